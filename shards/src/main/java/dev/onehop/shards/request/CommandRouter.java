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
   * Executes a command. A cancelled subscription abandons the command; it is then unknown whether
   * it was executed.
   *
   * @return the reply's document; errors of the cluster are replies with {@code ok: 0} or errors of
   *     the Mono
   */
  Mono<BsonDocument> execute(OpMsg command);

  /**
   * Forwards a command without decoding it, if possible. Called first for every command.
   *
   * @param frame the whole message; the caller keeps it until the outcome and releases it
   * @param carrier sends the message to its server
   * @param outcome receives the outcome
   * @return null if the command cannot be forwarded; the caller then calls {@link #execute}
   */
  @Nullable ForwardedCommand tryForward(
      ByteBuf frame, ForwardedCommand.Carrier carrier, ForwardedCommand.Outcome outcome);

  /**
   * A carrier that sends messages over the router's connections.
   *
   * @param loop the event loop whose connections to prefer, null for any
   */
  ForwardedCommand.Carrier carrierOn(@Nullable EventLoop loop);

  /** Whether the meters count a command as an operation. */
  default boolean isMeasured(String command) {
    return true;
  }

  /**
   * The reason why no server can be reached now; null if a server can be reached, or if this is not
   * known yet.
   */
  default @Nullable String outage() {
    return null;
  }

  /** Completes when the cluster is usable. If it is not usable, fails with the reason. */
  Mono<Void> started();

  /**
   * Like {@link #started}, but also completes when the metadata cannot be read yet and another
   * server may execute commands.
   */
  default Mono<Void> startedOrSilent() {
    return started();
  }

  /** Closes the connections to the servers. Commands in flight fail. */
  @Override
  void close();
}
