package dev.onehop.shards.command;

import dev.onehop.wire.message.OpMsg;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/**
 * Takes the commands that a router does not execute itself, since its answer could be wrong.
 *
 * <p>Thread-safe.
 */
public interface HandOver {
  /** Whether there is a server that takes them. */
  Mono<Boolean> isPossible();

  /**
   * Executes a command elsewhere.
   *
   * @param what names the command in the error if nothing takes it
   */
  Mono<BsonDocument> send(OpMsg command, String what);
}
