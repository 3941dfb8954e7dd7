package dev.onehop.wire.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.AwsCredential;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.connection.Compressor;
import dev.onehop.wire.connection.WireSettings;
import dev.onehop.wire.handshake.ClientMetadata;
import dev.onehop.wire.handshake.Handshake;
import dev.onehop.wire.handshake.HandshakeSettings;
import dev.onehop.wire.handshake.Mechanism;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** The driver's settings reach our own sockets. */
class DriverSocketsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  private final EventLoopGroup group = EventLoops.newGroup("driver-sockets-test", 1);
  private final List<BsonDocument> sent = new ArrayList<>();

  @AfterEach
  void stop() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private WireSettings of(String options) {
    return DriverSockets.of(
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString("mongodb://h/?" + options))
            .build(),
        new Carrier(group, null));
  }

  @Test
  void limitsOfThePool() {
    assertThat(
            of("maxPoolSize=7&maxConnecting=3&minPoolSize=2&waitQueueTimeoutMS=11&maxIdleTimeMS=12&maxLifeTimeMS=13")
                .pool())
        .isEqualTo(
            new WireSettings.PoolLimits(
                7, 2, 3, Duration.ofMillis(11), Duration.ofMillis(12), Duration.ofMillis(13)));
  }

  @Test
  void compressorsWithTheirLevels() {
    WireSettings settings = of("compressors=zstd,zlib,snappy&zlibCompressionLevel=4");

    assertThat(settings.compressors())
        .containsExactly(
            new Compressor("zstd", 3), new Compressor("zlib", 4), new Compressor("snappy", -1));
    assertThat(settings.handshake().compressors()).containsExactly("zstd", "zlib", "snappy");
  }

  @Test
  void theProxyAndTheTimeToConnect() {
    WireSettings.Sockets sockets =
        of("connectTimeoutMS=14&proxyHost=p&proxyUsername=u&proxyPassword=w").sockets();

    assertThat(sockets.connectTimeout()).isEqualTo(Duration.ofMillis(14));
    assertThat(sockets.proxy())
        .isEqualTo(new WireSettings.Proxy(new ServerAddressName("p", 1080), "u", "w"));
  }

  @Test
  void theApplicationAndTheDriverAreNamedBesideUs() {
    BsonDocument client = of("appName=shop").handshake().client();

    assertThat(client.getDocument("application")).isEqualTo(BsonDocument.parse("{name: 'shop'}"));
    assertThat(client.getDocument("driver").getString("name").getValue())
        .isEqualTo("mongo-java-driver|OneHop");
    assertThat(client.getDocument("driver").getString("version").getValue())
        .matches("5\\.\\d+\\.\\d+\\|" + ClientMetadata.version());
  }

  private String payloadOf(MongoCredential credential, String challenge) {
    byte[] first = challenge.isEmpty() ? new byte[0] : bytes(BsonDocument.parse(challenge));
    Mechanism mechanism = DriverSockets.mechanism(credential);
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
    assertThatThrownBy(() -> DriverSockets.mechanism(MongoCredential.createOidcCredential(null)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("OIDC_CALLBACK");
    assertThatThrownBy(
            () ->
                DriverSockets.mechanism(
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
    Mechanism mechanism = DriverSockets.mechanism(credential);
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
