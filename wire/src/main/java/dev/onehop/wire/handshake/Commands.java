package dev.onehop.wire.handshake;

import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/** Sends commands on one connection, one after another. */
@FunctionalInterface
public interface Commands {
  /**
   * Sends a command.
   *
   * @param command the command with its {@code $db}
   * @return the reply's document, even if it is an error
   */
  Mono<BsonDocument> send(BsonDocument command);

  /** Sends a command; fails if the reply is an error. */
  default Mono<BsonDocument> require(String who, String database, BsonDocument command) {
    return send(command.append("$db", new org.bson.BsonString(database)))
        .map(
            reply -> {
              if (reply.isNumber("ok") && reply.getNumber("ok").doubleValue() == 1) {
                return reply;
              }
              throw AuthenticationFailure.of(who, reply);
            });
  }
}
