package dev.onehop.routing.internal.wire;

import com.ongres.scram.common.exception.ScramException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The first exchange on a connection: hello with the client's metadata, and the authentication.
 * Source: the drivers' specifications "MongoDB Handshake" and "Authentication".
 */
final class Authentication {
  private static final String EXTERNAL = "$external";

  private final WireSettings settings;
  private final ScramKeys keys;
  private final Exchange exchange;

  /** Sends a command on the connection and gives the answer's document. */
  interface Exchange {
    Mono<BsonDocument> send(BsonDocument command);
  }

  private Authentication(WireSettings settings, ScramKeys keys, Exchange exchange) {
    this.settings = settings;
    this.keys = keys;
    this.exchange = exchange;
  }

  /**
   * Runs it.
   *
   * @param keys those of the settings' user
   * @return empty when the connection may be used; a {@link WireAuthenticationException} if the
   *     server refuses the user
   */
  static Mono<Void> run(WireSettings settings, ScramKeys keys, Exchange exchange) {
    return new Authentication(settings, keys, exchange).start();
  }

  private Mono<Void> start() {
    WireCredential credential = settings.credential();
    BsonDocument hello =
        new BsonDocument("hello", new BsonInt32(1))
            .append("helloOk", BsonBoolean.TRUE)
            .append("client", settings.client());
    if (credential != null) {
      if (WireCredential.X509.equals(credential.mechanism())) {
        BsonDocument speculative = x509(credential).append("db", new BsonString(EXTERNAL));
        hello.append("speculativeAuthenticate", speculative);
      } else {
        hello.append(
            "saslSupportedMechs",
            new BsonString(credential.source() + "." + Objects.requireNonNull(credential.user())));
      }
    }
    return send("admin", hello)
        .flatMap(
            reply -> {
              if (credential == null || reply.containsKey("speculativeAuthenticate")) {
                return Mono.empty();
              }
              return WireCredential.X509.equals(credential.mechanism())
                  ? send(EXTERNAL, x509(credential)).then()
                  : scram(credential, mechanism(credential, reply));
            });
  }

  private Mono<BsonDocument> send(String database, BsonDocument command) {
    return exchange
        .send(command.append("$db", new BsonString(database)))
        .map(
            reply -> {
              BsonValue ok = reply.get("ok");
              if (ok == null || !ok.isNumber() || ok.asNumber().doubleValue() != 1) {
                throw new WireAuthenticationException(
                    settings.credential(),
                    reply.getString("errmsg", new BsonString(reply.toJson())).getValue());
              }
              return reply;
            });
  }

  private static BsonDocument x509(WireCredential credential) {
    BsonDocument authenticate =
        new BsonDocument("authenticate", new BsonInt32(1))
            .append("mechanism", new BsonString(WireCredential.X509));
    if (credential.user() != null) {
      authenticate.append("user", new BsonString(credential.user()));
    }
    return authenticate;
  }

  /** As the specification has it: SCRAM-SHA-256 if the server names it for the user. */
  private static String mechanism(WireCredential credential, BsonDocument hello) {
    if (credential.mechanism() != null) {
      return credential.mechanism();
    }
    return hello.isArray("saslSupportedMechs")
            && hello
                .getArray("saslSupportedMechs")
                .contains(new BsonString(WireCredential.SCRAM_SHA_256))
        ? WireCredential.SCRAM_SHA_256
        : WireCredential.SCRAM_SHA_1;
  }

  private Mono<Void> scram(WireCredential credential, String mechanism) {
    ScramConversation conversation = new ScramConversation(credential, mechanism, keys);
    BsonDocument first =
        new BsonDocument("saslStart", new BsonInt32(1))
            .append("mechanism", new BsonString(mechanism))
            .append("payload", payload(conversation.firstMessage()))
            .append("options", new BsonDocument("skipEmptyExchange", BsonBoolean.TRUE));
    return send(credential.source(), first)
        .flatMap(
            reply -> {
              try {
                return step(credential, reply, conversation.finalMessage(text(reply)));
              } catch (ScramException e) {
                return Mono.error(refused(e));
              }
            })
        .flatMap(
            reply -> {
              try {
                conversation.verify(text(reply));
              } catch (ScramException e) {
                return Mono.error(refused(e));
              }
              return finish(credential, reply);
            });
  }

  // Servers that don't skip the empty exchange want one more message.
  private Mono<Void> finish(WireCredential credential, BsonDocument reply) {
    return reply.getBoolean("done", BsonBoolean.FALSE).getValue()
        ? Mono.empty()
        : step(credential, reply, "").then();
  }

  private Mono<BsonDocument> step(WireCredential credential, BsonDocument last, String message) {
    return send(
        credential.source(),
        new BsonDocument("saslContinue", new BsonInt32(1))
            .append("conversationId", last.get("conversationId"))
            .append("payload", payload(message)));
  }

  private WireAuthenticationException refused(Exception e) {
    return new WireAuthenticationException(settings.credential(), String.valueOf(e.getMessage()));
  }

  private static BsonBinary payload(String message) {
    return new BsonBinary(message.getBytes(StandardCharsets.UTF_8));
  }

  private static String text(BsonDocument reply) {
    return new String(reply.getBinary("payload").getData(), StandardCharsets.UTF_8);
  }

  /** A server does not take the user. */
  static final class WireAuthenticationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    WireAuthenticationException(@Nullable WireCredential credential, String why) {
      super(credential == null ? "hello refused: " + why : credential + ": " + why);
    }
  }
}
