package dev.onehop.shards.request;

import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.channel.EventLoop;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Executes a client's commands on a sharded cluster.
 *
 * <p>Thread-safe.
 */
public interface CommandRouter extends AutoCloseable {
  /**
   * Executes a command. To cancel the subscription gives the command up; whether it was carried out
   * is then not known.
   *
   * @return the reply's document; errors of the cluster are replies with {@code ok: 0} or errors of
   *     the Mono
   */
  Mono<BsonDocument> execute(OpMsg command);

  /**
   * Passes a command on without decoding it, if it is one that can go this way. Called for every
   * command first.
   *
   * @param frame the whole message; stays the caller's, who keeps it until the outcome
   * @param carrier sends it to its server
   * @return null if the command can't go this way: it is to be executed in full
   */
  @Nullable ForwardedCommand tryForward(
      ByteBuf frame, ForwardedCommand.Carrier carrier, ForwardedCommand.Outcome outcome);

  /**
   * Carries messages over the router's connections.
   *
   * @param loop the event loop whose connections to prefer, null for any
   */
  ForwardedCommand.Carrier carrierOn(@Nullable EventLoop loop);

  /** Whether a command is an operation that is measured. */
  default boolean isMeasured(String command) {
    return true;
  }

  /** Why no server can be reached now; null if one can, or it is not known yet. */
  default @Nullable String outage() {
    return null;
  }

  /** Completes when the cluster was found to be usable; fails with the reason if it is not. */
  Mono<Void> started();

  /**
   * The same, but completes also when the cluster's metadata can't be read yet and a server may
   * serve commands nevertheless.
   */
  default Mono<Void> startedOrSilent() {
    return started();
  }

  /** Ends the connections to the servers. Commands under way fail. */
  @Override
  void close();
}
