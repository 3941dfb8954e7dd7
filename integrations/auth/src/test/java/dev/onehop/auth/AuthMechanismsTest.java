package dev.onehop.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.AwsCredential;
import com.mongodb.MongoCredential;
import dev.onehop.wire.handshake.Handshake;
import dev.onehop.wire.handshake.HandshakeSettings;
import dev.onehop.wire.handshake.Mechanism;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** The driver's credentials reach our own sockets. */
class AuthMechanismsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final List<BsonDocument> sent = new ArrayList<>();

  private String payloadOf(MongoCredential credential, String challenge) {
    byte[] first = challenge.isEmpty() ? new byte[0] : bytes(BsonDocument.parse(challenge));
    Mechanism mechanism = new AuthMechanisms().mechanism(credential);
    new Handshake(
            new HandshakeSettings(new BsonDocument(), List.of(), mechanism),
            "localhost",
            command -> {
              sent.add(command);
              boolean more = sent.size() == 2 && first.length > 0;
              return Mono.just(
                  BsonDocument.parse("{ok: 1, conversationId: 1, done: " + !more + "}")
                      .append("payload", new BsonBinary(first)));
            })
        .run()
        .block(TIMEOUT);
    return new RawBsonDocument(sent.get(sent.size() - 1).getBinary("payload").getData()).toJson();
  }

  private static byte[] bytes(BsonDocument document) {
    java.nio.ByteBuffer encoded =
        new RawBsonDocument(document, new org.bson.codecs.BsonDocumentCodec())
            .getByteBuffer()
            .asNIO();
    byte[] bytes = new byte[encoded.remaining()];
    encoded.get(bytes);
    return bytes;
  }

  @Test
  void theMachinesCallback() {
    MongoCredential credential =
        MongoCredential.createOidcCredential(null)
            .withMechanismProperty(
                MongoCredential.OIDC_CALLBACK_KEY,
                (MongoCredential.OidcCallback)
                    context -> {
                      assertThat(context.getTimeout()).isEqualTo(Duration.ofMinutes(1));
                      assertThat(context.getVersion()).isEqualTo(1);
                      assertThat(context.getIdpInfo()).isNull();
                      return new MongoCredential.OidcCallbackResult("a token");
                    });

    assertThat(payloadOf(credential, "")).isEqualTo("{\"jwt\": \"a token\"}");
  }

  @Test
  void thePersonsCallback() {
    MongoCredential credential =
        MongoCredential.createOidcCredential("me")
            .withMechanismProperty(
                MongoCredential.OIDC_HUMAN_CALLBACK_KEY,
                (MongoCredential.OidcCallback)
                    context -> {
                      MongoCredential.IdpInfo provider = context.getIdpInfo();
                      assertThat(provider).isNotNull();
                      return new MongoCredential.OidcCallbackResult(
                          context.getUserName()
                              + " of "
                              + provider.getIssuer()
                              + provider.getRequestScopes());
                    });

    assertThat(payloadOf(credential, "{issuer: 'i', clientId: 'c', requestScopes: ['s']}"))
        .isEqualTo("{\"jwt\": \"me of i[s]\"}");
  }

  @Test
  void anIncompleteCredentialIsRefused() {
    assertThatThrownBy(
            () -> new AuthMechanisms().mechanism(MongoCredential.createOidcCredential(null)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("OIDC_CALLBACK");
    assertThatThrownBy(
            () ->
                new AuthMechanisms()
                    .mechanism(
                        MongoCredential.createOidcCredential("me")
                            .withMechanismProperty("ENVIRONMENT", "test")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no user name");
  }

  @Test
  void theCallbackOfAws() {
    Supplier<AwsCredential> supplier = () -> new AwsCredential("id", "key", "token");
    MongoCredential credential =
        MongoCredential.createAwsCredential(null, null)
            .withMechanismProperty(MongoCredential.AWS_CREDENTIAL_PROVIDER_KEY, supplier);
    Mechanism mechanism = new AuthMechanisms().mechanism(credential);
    new Handshake(
            new HandshakeSettings(new BsonDocument(), List.of(), mechanism),
            "localhost",
            command -> {
              sent.add(command);
              BsonDocument reply = BsonDocument.parse("{ok: 1, conversationId: 1}");
              if (command.getFirstKey().equals("saslStart")) {
                byte[] nonce =
                    new RawBsonDocument(command.getBinary("payload").getData())
                        .getBinary("r")
                        .getData();
                reply.append(
                    "payload",
                    new BsonBinary(
                        bytes(
                            BsonDocument.parse("{h: 'sts.amazonaws.com'}")
                                .append("s", new BsonBinary(java.util.Arrays.copyOf(nonce, 64))))));
              } else {
                reply.append("done", org.bson.BsonBoolean.TRUE);
              }
              return Mono.just(reply);
            })
        .run()
        .block(TIMEOUT);

    BsonDocument answer = new RawBsonDocument(sent.get(2).getBinary("payload").getData());
    assertThat(answer.getString("t").getValue()).isEqualTo("token");
    assertThat(answer.getString("a").getValue()).contains("Credential=id/");
  }
}
