package dev.onehop.shards.cluster;

import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;

/**
 * Whether a command may be sent again when its outcome is unknown. Source: the drivers'
 * specifications "Retryable Reads" and "Retryable Writes".
 */
public enum Retryability {
  /** Not retryable: the command may have been executed, and must not be executed twice. */
  NEVER,
  /** Retryable: the command changes nothing. */
  READ,
  /** Retryable: the server recognises an executed command by its transaction number. */
  WRITE;

  private static final Set<String> READS =
      Set.of("find", "aggregate", "count", "distinct", "listCollections", "listIndexes", "explain");
  private static final Set<Integer> CODES =
      Set.of(6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436);
  // The errors HostUnreachable, HostNotFound, NetworkTimeout and SocketException.
  private static final Set<Integer> BROKEN = Set.of(6, 7, 89, 9001);
  private static final BsonString WRITE_LABEL = new BsonString("RetryableWriteError");
  private static final BsonString OVERLOADED =
      new BsonString(CommandFailure.SYSTEM_OVERLOADED_ERROR);

  public static Retryability of(OpMsg command) {
    BsonDocument body = command.body();
    if (body.containsKey("autocommit")) {
      return NEVER;
    }
    if (body.containsKey("txnNumber")) {
      return WRITE;
    }
    return isRead(command) && !writesWhatItReads(body) ? READ : NEVER;
  }

  /** Whether an aggregation writes to a collection. */
  private static boolean writesWhatItReads(BsonDocument aggregate) {
    return aggregate.get("pipeline") instanceof BsonArray stages
        && !stages.isEmpty()
        && stages.get(stages.size() - 1) instanceof BsonDocument last
        && (last.containsKey("$out") || last.containsKey("$merge"));
  }

  /** Whether a command only reads, so that its read preference applies. */
  public static boolean isRead(OpMsg command) {
    return READS.contains(command.commandName());
  }

  /** Whether to send the command again after a broken connection. */
  public boolean afterBreak() {
    return this != NEVER;
  }

  /** Whether to send the command again after this reply. */
  public boolean isAgainAfter(BsonDocument reply) {
    if (this == NEVER) {
      return false;
    }
    if (!ErrorCodes.ok(reply)) {
      // OneHop does not send a command again if a server is overloaded, because the driver then
      // waits, retries the command and counts the retries.
      return (CODES.contains(ErrorCodes.of(reply)) || hasLabel(reply, WRITE_LABEL))
          && !hasLabel(reply, OVERLOADED);
    }
    return this == WRITE
        && reply.get("writeConcernError") instanceof BsonDocument error
        && CODES.contains(ErrorCodes.of(error));
  }

  /** Whether a mongos reports in its reply that its connection to a shard broke. */
  public static boolean isBroken(BsonDocument reply) {
    return !ErrorCodes.ok(reply) && BROKEN.contains(ErrorCodes.of(reply));
  }

  /** Whether the code means that a server is temporarily unavailable. */
  static boolean isRetryable(int code) {
    return CODES.contains(code);
  }

  private static boolean hasLabel(BsonDocument reply, BsonString label) {
    return reply.get("errorLabels") instanceof BsonArray labels && labels.contains(label);
  }
}
