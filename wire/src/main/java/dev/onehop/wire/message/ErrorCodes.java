package dev.onehop.wire.message;

import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;

/** Server error codes that routing handles. Source: {@code src/mongo/base/error_codes.yml}. */
public final class ErrorCodes {
  public static final int INTERNAL_ERROR = 1;
  public static final int BAD_VALUE = 2;
  public static final int FAILED_TO_PARSE = 9;
  public static final int TYPE_MISMATCH = 14;
  public static final int INVALID_LENGTH = 16;
  static final int PROTOCOL_ERROR = 17;
  public static final int INVALID_OPTIONS = 72;
  public static final int INVALID_NAMESPACE = 73;
  static final int INVALID_BSON = 22;
  public static final int HOST_UNREACHABLE = 6;
  public static final int UNAUTHORIZED = 13;
  public static final int AUTHENTICATION_FAILED = 18;
  public static final int ILLEGAL_OPERATION = 20;
  public static final int CURSOR_NOT_FOUND = 43;
  public static final int SHARD_KEY_NOT_FOUND = 61;
  public static final int WRITE_CONFLICT = 112;
  public static final int NETWORK_INTERFACE_EXCEEDED_TIME_LIMIT = 202;
  public static final int WOULD_CHANGE_OWNING_SHARD = 283;
  public static final int DUPLICATE_KEY = 11000;
  public static final int INTERRUPTED = 11601;
  public static final int SHARD_NOT_FOUND = 70;
  public static final int COMMAND_NOT_FOUND = 59;
  public static final int COMMAND_NOT_SUPPORTED = 115;
  public static final int FAILED_TO_SATISFY_READ_PREFERENCE = 133;
  public static final int MAX_STALENESS_OUT_OF_RANGE = 160;
  public static final int COMMAND_ON_SHARDED_VIEW = 169;
  public static final int NAMESPACE_NOT_FOUND = 26;
  public static final int NAMESPACE_EXISTS = 48;
  public static final int MAX_TIME_MS_EXPIRED = 50;
  public static final int COLLECTION_UUID_MISMATCH = 361;
  public static final int NO_SUCH_TRANSACTION = 251;
  public static final int STALE_DB_VERSION = 249;
  public static final int INVALID_RESUME_TOKEN = 260;
  public static final int CHANGE_STREAM_FATAL_ERROR = 280;
  public static final int CHANGE_STREAM_HISTORY_LOST = 286;
  public static final int STALE_CONFIG = 13388;

  private static final int STALE_SHARD_VERSION = 63;
  private static final int STALE_EPOCH = 150;
  private static final int SHARD_CANNOT_REFRESH_DUE_TO_LOCKS_HELD = 343;
  private static final Set<Integer> STALE =
      Set.of(
          STALE_CONFIG,
          STALE_DB_VERSION,
          STALE_SHARD_VERSION,
          STALE_EPOCH,
          SHARD_CANNOT_REFRESH_DUE_TO_LOCKS_HELD);

  /**
   * The codes for "not primary" and "recovering" in the specification "Server Discovery and
   * Monitoring".
   */
  private static final Set<Integer> NOT_PRIMARY =
      Set.of(10107, 13435, 11600, 11602, 13436, 189, 91, 10058);

  // TimeProofMismatch, ClusterTimeFailsRateLimiter, KeyNotFound.
  private static final Set<Integer> CLUSTER_TIME_REFUSED = Set.of(204, 205, 211);

  private ErrorCodes() {}

  /** The code of a command-level error or of a write error; 0 if there is none. */
  public static int of(BsonDocument document) {
    BsonValue code = document.get("code");
    return code != null && code.isNumber() ? code.asNumber().intValue() : 0;
  }

  public static boolean ok(BsonDocument reply) {
    BsonValue ok = reply.get("ok", new BsonInt32(0));
    return ok.isNumber() && ok.asNumber().doubleValue() == 1;
  }

  /** Whether a shard refused a command because the sender's routing table is stale. */
  public static boolean isStale(int code) {
    return STALE.contains(code);
  }

  /** Whether a server rejected the cluster time of a command. */
  public static boolean isClusterTimeRefused(int code) {
    return CLUSTER_TIME_REFUSED.contains(code);
  }

  /**
   * Whether a shard refused a command on a view because the view's collection is sharded. A mongos
   * can execute the command.
   */
  public static boolean isOfShardedView(BsonDocument reply) {
    return !ok(reply) && of(reply) == COMMAND_ON_SHARDED_VIEW;
  }

  public static boolean isNotPrimary(int code) {
    return NOT_PRIMARY.contains(code);
  }
}
