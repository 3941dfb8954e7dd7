package dev.onehop.shards.cluster;

import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import org.bson.BsonDocument;
import org.bson.BsonString;

/**
 * A shard has refused a command because the routing table is stale. Used for control flow, so it
 * has no stack trace.
 */
public final class StaleRoute extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient BsonDocument refusal;

  public StaleRoute(BsonDocument refusal) {
    super("stale route", null, false, false);
    this.refusal = refusal;
  }

  /** Creates a refusal for a table that names a shard which does not exist. */
  public StaleRoute(Throwable shardNotFound) {
    this(CommandFailure.toReply(shardNotFound, false));
  }

  /** The error for the client when the last attempt was refused, too. */
  public CommandFailure asFailure() {
    return new CommandFailure(ErrorCodes.of(refusal), "StaleConfig", reason());
  }

  /**
   * The error for a write that one shard refused at every attempt, and that other shards may have
   * executed.
   */
  public CommandFailure asFailureOf(String shard) {
    return new CommandFailure(
        ErrorCodes.of(refusal),
        "StaleConfig",
        "shard %s has not executed the write, but other shards may have executed it: %s"
            .formatted(shard, reason()));
  }

  private String reason() {
    return refusal.getString("errmsg", new BsonString("stale routing table")).getValue();
  }
}
