package dev.onehop.wire.handshake;

import java.util.function.Function;
import org.bson.BsonDocument;
import reactor.core.publisher.Mono;

/**
 * A mechanism that consists of a SASL conversation.
 *
 * @param name the mechanism's name
 * @param who the user, for messages
 * @param source the database that the user belongs to
 * @param conversation creates the client's side for a host
 */
public record SaslMechanism(
    String name, String who, String source, Function<String, SaslSteps> conversation)
    implements Mechanism {

  @Override
  public Login login(String host) {
    return new Login() {
      @Override
      public String who() {
        return who;
      }

      @Override
      public Mono<Void> run(BsonDocument helloReply, Commands commands) {
        return Mono.defer(
            () -> new SaslDialogue(who, name, source, conversation.apply(host), commands).run());
      }
    };
  }
}
