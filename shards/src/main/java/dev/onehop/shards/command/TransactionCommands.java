package dev.onehop.shards.command;

import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/** The commands of transactions, and the labels of their failures. */
public final class TransactionCommands {
  private static final Set<String> ENDS = Set.of("commitTransaction", "abortTransaction");

  private TransactionCommands() {}

  /** Whether a command belongs to a transaction. */
  public static boolean isPart(OpMsg command) {
    return command.body().containsKey("autocommit");
  }

  /** Whether a command commits or aborts its transaction. */
  public static boolean isEnd(OpMsg command) {
    return ENDS.contains(command.commandName());
  }

  /**
   * Adds labels to the failure of a transaction's command if a server could not be reached or
   * refused all attempts as stale. The drivers' specification "Transactions" requires these labels.
   * After a failed statement, the driver may retry the whole transaction. After a failed commit or
   * abort, it may retry only this command, also at another router. If a connection broke, its
   * exception stays the cause of the labelled failure.
   */
  static Throwable labelled(OpMsg command, Throwable failure) {
    boolean unreachable = failure instanceof IOException;
    boolean notFound =
        failure instanceof CommandFailure known
            && known.code() == ErrorCodes.FAILED_TO_SATISFY_READ_PREFERENCE;
    boolean stale = failure instanceof CommandFailure refused && ErrorCodes.isStale(refused.code());
    if (!isPart(command) || !(unreachable || notFound || stale)) {
      return failure;
    }
    CommandFailure known = CommandFailure.from(failure);
    CommandFailure labelled =
        new CommandFailure(
            known.code(),
            known.codeName(),
            String.valueOf(known.getMessage()),
            switch (command.commandName()) {
              case "commitTransaction" ->
                  List.of("RetryableWriteError", "UnknownTransactionCommitResult");
              case "abortTransaction" -> List.of("RetryableWriteError");
              default -> List.of(CommandFailure.TRANSIENT_TRANSACTION_ERROR);
            });
    if (unreachable) {
      labelled.initCause(failure);
    }
    return labelled;
  }
}
