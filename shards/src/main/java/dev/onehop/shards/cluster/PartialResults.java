package dev.onehop.shards.cluster;

import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.io.IOException;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;

/**
 * The rules for a find with {@code allowPartialResults}: a shard that cannot be reached is left
 * out, and the reply reports it. A mongos has the same rules, see {@code
 * src/mongo/s/query/establish_cursors.cpp}.
 */
public final class PartialResults {
  private PartialResults() {}

  /** Whether a command allows partial results. */
  public static boolean areAllowed(BsonDocument command) {
    return BsonBoolean.TRUE.equals(command.get("allowPartialResults"));
  }

  /**
   * Whether a failure means that a shard cannot be reached. False if the shard refuses the command.
   */
  public static boolean isUnreachable(Throwable failure) {
    return failure instanceof IOException
        || (failure instanceof CommandFailure refused
            && (refused.code() == ErrorCodes.FAILED_TO_SATISFY_READ_PREFERENCE
                || Retryability.isRetryable(refused.code())));
  }
}
