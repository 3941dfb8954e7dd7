package dev.onehop.shards.cluster;

import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import org.bson.BsonDocument;
import org.bson.BsonString;

/**
 * A shard refused a command because the table behind it is old. Control flow, so no stack trace.
 */
public final class StaleRoute extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient BsonDocument refusal;

  public StaleRoute(BsonDocument refusal) {
    super("stale route", null, false, false);
    this.refusal = refusal;
  }

  /** A table that leads to a shard which is not there. */
  public StaleRoute(Throwable shardNotFound) {
    this(CommandFailure.toReply(shardNotFound, false));
  }

  /** What to tell the client when retrying did not help. */
  public CommandFailure asFailure() {
    return new CommandFailure(ErrorCodes.of(refusal), "StaleConfig", reason());
  }

  /** The same of a write that one shard kept refusing, and others have perhaps not. */
  public CommandFailure asFailureOf(String shard) {
    return new CommandFailure(
        ErrorCodes.of(refusal),
        "StaleConfig",
        "shard %s has not carried it out, other shards may have: %s".formatted(shard, reason()));
  }

  private String reason() {
    return refusal.getString("errmsg", new BsonString("stale routing table")).getValue();
  }
}
