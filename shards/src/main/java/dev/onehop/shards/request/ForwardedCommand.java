package dev.onehop.shards.request;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.Exchange;
import dev.onehop.wire.message.CommandHead;
import io.netty.buffer.ByteBuf;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Mono;

/**
 * A command on its way without having been decoded.
 *
 * @param name of the command
 * @param cancel cancels it, as in {@link Carrier#send}
 */
public record ForwardedCommand(String name, BooleanSupplier cancel) {
  /** Carries a message to a server and its answer back. */
  @FunctionalInterface
  public interface Carrier {
    /**
     * Sends a message, now or later.
     *
     * @param message the whole message, taken over
     * @param head of the command, as it was read; used before this returns
     * @param outcome takes what became of it
     * @return cancels it and returns whether that was in time: the outcome is not called then
     */
    BooleanSupplier send(
        ServerAddressName server, ByteBuf message, CommandHead head, Exchange.Outcome outcome);
  }

  /** Takes where a command goes, and then what became of it: by one call, as its carrier calls. */
  public interface Outcome {
    /** Where it is sent, before one of the others is called. */
    default void sending(String command, String namespace, String shard, ServerAddressName server) {
      targeting(command, namespace, true).sent(shard, server);
    }

    /**
     * What is sent, before one of the others is called.
     *
     * @return takes note of where it goes
     */
    CommandTrace targeting(String command, String namespace, boolean isMeasured);

    /**
     * It was carried out, or refused for good.
     *
     * @param message the whole answer, under the command's id; the caller releases it
     * @param ok whether it was carried out
     */
    void replied(ByteBuf message, boolean ok);

    /**
     * Nothing was carried out that must not be carried out again: the command is to be executed in
     * full.
     *
     * @param refused whether the shard refused it, because the table is stale
     * @param first what to wait for before
     */
    void notDone(boolean refused, Mono<Void> first);

    /**
     * It was sent, and the connection broke before the answer. It may be sent again: the command is
     * to be executed in full.
     */
    void broken();

    /** Whether it was carried out is not known. */
    void failed(Throwable cause);
  }
}
