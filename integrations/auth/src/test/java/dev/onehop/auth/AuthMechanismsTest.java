package dev.onehop.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.AwsCredential;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.driver.Carrier;
import dev.onehop.wire.driver.DriverSockets;
import dev.onehop.wire.handshake.Handshake;
import dev.onehop.wire.handshake.HandshakeSettings;
import dev.onehop.wire.handshake.Mechanism;
import io.netty.channel.EventLoopGroup;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** OneHop's sockets authenticate with the driver's credentials. */
class AuthMechanismsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final List<BsonDocument> sent = new ArrayList<>();

  /**
   * The mechanisms are found even if the class loader of the thread does not contain the
   * application. Threads of a shared pool have such a class loader.
   */
  @Test
  void findsMechanismsWithOtherContextClassLoader() {
    Thread thread = Thread.currentThread();
    ClassLoader own = thread.getContextClassLoader();
    thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
    EventLoopGroup group = EventLoops.newGroup("auth-mechanisms-test", 1);
    try {
      assertThat(mechanism("mongodb://h/?authMechanism=MONGODB-AWS", group)).isNotNull();
      assertThat(mechanism("mongodb://me@h/?authMechanism=GSSAPI", group)).isNotNull();
      assertThat(
              mechanism(
                  "mongodb://h/?authMechanism=MONGODB-OIDC&authMechanismProperties=ENVIRONMENT:k8s",
                  group))
          .isInstanceOf(OidcMechanism.class);
    } finally {
      thread.setContextClassLoader(own);
      group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    }
  }

  private static Mechanism mechanism(String uri, EventLoopGroup group) {
    MongoClientSettings settings =
        MongoClientSettings.builder().applyConnectionString(new ConnectionString(uri)).build();
    return DriverSockets.of(settings, new Carrier(group, null)).handshake().mechanism();
  }

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
    ByteBuffer encoded =
        new RawBsonDocument(document, new BsonDocumentCodec()).getByteBuffer().asNIO();
    byte[] bytes = new byte[encoded.remaining()];
    encoded.get(bytes);
    return bytes;
  }

  @Test
  void sendsTokenOfMachineCallback() {
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
  void sendsTokenOfHumanCallback() {
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
  void rejectsIncompleteCredential() {
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
        .hasMessageContaining("without a user name");
  }

  @Test
  void signsWithProvidedAwsCredential() {
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
                                .append("s", new BsonBinary(Arrays.copyOf(nonce, 64))))));
              } else {
                reply.append("done", BsonBoolean.TRUE);
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
