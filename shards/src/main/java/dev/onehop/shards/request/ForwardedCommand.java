package dev.onehop.shards.request;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.Exchange;
import dev.onehop.wire.message.CommandHead;
import io.netty.buffer.ByteBuf;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Mono;

/**
 * A command that was forwarded without decoding.
 *
 * @param name the command's name
 * @param cancel cancels the command, as in {@link Carrier#send}
 */
public record ForwardedCommand(String name, BooleanSupplier cancel) {
  /** Sends a message to a server and returns the reply. */
  @FunctionalInterface
  public interface Carrier {
    /**
     * Sends a message, now or later.
     *
     * @param server the server
     * @param message the whole message; released by the carrier
     * @param head the parsed head of the command; used only during this call
     * @param outcome receives the outcome
     * @return an action that cancels the command. The action returns true if it came in time.
     *     {@code outcome} is then not called
     */
    BooleanSupplier send(
        ServerAddressName server, ByteBuf message, CommandHead head, Exchange.Outcome outcome);
  }

  /**
   * Receives the server of a command, and then its outcome. Of the methods for an outcome, only one
   * is called, and only once, on the carrier's thread.
   */
  public interface Outcome {
    /** Called when the server of a command is chosen, before the outcome. */
    default void sending(String command, String namespace, String shard, ServerAddressName server) {
      targeting(command, namespace, true).sent(shard, server);
    }

    /**
     * Called when the target of a command is chosen, before the outcome.
     *
     * @param isMeasured whether the command counts in the meters
     * @return the trace for the command's server
     */
    CommandTrace targeting(String command, String namespace, boolean isMeasured);

    /**
     * The command was executed or finally refused.
     *
     * @param message the whole reply, under the command's request id; the caller releases it
     * @param ok whether it was executed
     */
    void replied(ByteBuf message, boolean ok);

    /**
     * The command was not executed, or may be executed again. The caller then executes it by {@link
     * CommandRouter#execute}.
     *
     * @param refused whether the shard refused the command because the table is stale
     * @param first the caller executes the command after this has completed
     */
    void notDone(boolean refused, Mono<Void> first);

    /**
     * The command was sent, and the connection broke before the reply. The command may be sent
     * again, so the caller executes it by {@link CommandRouter#execute}.
     */
    void broken();

    /** It is unknown whether the command was executed. */
    void failed(Throwable cause);
  }
}
