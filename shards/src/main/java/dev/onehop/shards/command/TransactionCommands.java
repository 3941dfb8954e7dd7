package dev.onehop.shards.command;

import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/** Which commands are a transaction's, and what their failures say to a driver. */
public final class TransactionCommands {
  private static final Set<String> ENDS = Set.of("commitTransaction", "abortTransaction");

  private TransactionCommands() {}

  /** Whether a command belongs to a transaction. */
  public static boolean isPart(OpMsg command) {
    return command.body().containsKey("autocommit");
  }

  /** Whether a command of a transaction is its end. */
  public static boolean isEnd(OpMsg command) {
    return ENDS.contains(command.commandName());
  }

  /**
   * A failure of one of a transaction's commands, with the labels that the drivers' specification
   * "Transactions" asks for if a server was not reached, or refused all tries as stale: after a
   * statement the whole transaction may be tried again; after its end only that, be it at another
   * router. A broken connection stays its cause.
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
