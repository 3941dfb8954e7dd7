package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.ServerAddress;
import com.mongodb.ServerApi;
import com.mongodb.ServerApiVersion;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.model.Filters;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.internal.handshake.HandshakeSettings;
import dev.onehop.routing.internal.handshake.Mechanism;
import dev.onehop.routing.internal.wire.Addresses;
import dev.onehop.routing.internal.wire.EventLoops;
import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.internal.wire.ServerAddressName;
import dev.onehop.routing.internal.wire.WirePool;
import dev.onehop.routing.internal.wire.WireSettings;
import dev.onehop.routing.transport.PipeliningMeters;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Shared sockets authenticate, over TLS, by every mechanism that a server here offers. */
class PipelinedAuthenticationIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final EventLoopGroup LOOPS = EventLoops.newGroup("shared", 1);

  private static final ServerApi STRICT =
      ServerApi.builder().version(ServerApiVersion.V1).strict(true).build();

  private static TestCertificates certificates;
  private static RealMongod mongod;
  private static LeakWatch leakWatch;

  @BeforeAll
  static void start() {
    leakWatch = LeakWatch.start();
    certificates = TestCertificates.create();
    mongod = RealMongod.startWithTls(certificates);
    try (MongoClient client = MongoClients.create(asAdministrator())) {
      for (String mechanism : List.of("SCRAM-SHA-1", "SCRAM-SHA-256")) {
        client
            .getDatabase("it")
            .runCommand(
                new Document("createUser", mechanism)
                    .append("pwd", "secret")
                    .append("mechanisms", List.of(mechanism))
                    .append("roles", List.of("readWrite")));
      }
      client
          .getDatabase("$external")
          .runCommand(
              new Document("createUser", TestCertificates.CLIENT)
                  .append("roles", List.of(new Document("role", "readWrite").append("db", "it"))));
    }
  }

  @AfterAll
  static void stop() {
    LOOPS.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    mongod.close();
    List<String> leaks = leakWatch.leaks();
    leakWatch.close();
    assertThat(leaks).isEmpty();
  }

  private static MongoClientSettings asAdministrator() {
    return MongoClientSettings.builder()
        .applyConnectionString(new ConnectionString(mongod.url()))
        .credential(RealMongod.administrator())
        .applyToSslSettings(ssl -> ssl.enabled(true).context(certificates.trusting()))
        .build();
  }

  private static PipelinedClient client(Consumer<MongoClientSettings.Builder> change) {
    return new PipelinedClient(
        mongod.url(),
        settings -> {
          settings.applyToSslSettings(ssl -> ssl.enabled(true).context(certificates.trusting()));
          change.accept(settings);
        });
  }

  @ParameterizedTest
  @ValueSource(strings = {"SCRAM-SHA-1", "SCRAM-SHA-256"})
  void scramNegotiatesItsMechanism(String user) {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.credential(
                    MongoCredential.createCredential(user, "it", "secret".toCharArray())))) {
      everythingWorks(pipelined);
    }
  }

  @Test
  void scramSha1ByName() {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.credential(
                    MongoCredential.createScramSha1Credential(
                        "SCRAM-SHA-1", "it", "secret".toCharArray())))) {
      everythingWorks(pipelined);
    }
  }

  @Test
  void x509() {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.credential(MongoCredential.createMongoX509Credential())
                    .applyToSslSettings(ssl -> ssl.context(certificates.client())))) {
      everythingWorks(pipelined);
    }
  }

  /** Under it, a server refuses a second authentication of a connection, even of the same user. */
  @ParameterizedTest
  @ValueSource(strings = {"SCRAM-SHA-1", "SCRAM-SHA-256"})
  void scramUnderTheStrictStableApi(String user) {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.serverApi(STRICT)
                    .credential(
                        MongoCredential.createCredential(user, "it", "secret".toCharArray())))) {
      everythingWorks(pipelined);
    }
  }

  @Test
  void x509UnderTheStrictStableApi() {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.serverApi(STRICT)
                    .credential(MongoCredential.createMongoX509Credential())
                    .applyToSslSettings(ssl -> ssl.context(certificates.client())))) {
      everythingWorks(pipelined);
    }
  }

  @Test
  void aWrongPasswordIsRefusedUnderTheStrictStableApi() {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.serverApi(STRICT)
                    .credential(
                        MongoCredential.createCredential(
                            "SCRAM-SHA-256", "it", "wrong".toCharArray())))) {
      MongoCollection<Document> collection =
          pipelined.client().getDatabase("it").getCollection("refused");

      assertThatThrownBy(() -> Mono.from(collection.find().first()).block(TIMEOUT))
          .hasMessageContaining("refuses user SCRAM-SHA-256@it: Authentication failed");
    }
  }

  @Test
  void aWrongPasswordIsRefused() {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.credential(
                    MongoCredential.createCredential(
                        "SCRAM-SHA-256", "it", "wrong".toCharArray())))) {
      MongoCollection<Document> collection =
          pipelined.client().getDatabase("it").getCollection("refused");

      assertThatThrownBy(() -> Mono.from(collection.find().first()).block(TIMEOUT))
          .hasMessageContaining("refuses user SCRAM-SHA-256@it: Authentication failed");
    }
  }

  @Test
  void withoutCredentialsNothingIsServed() {
    try (PipelinedClient pipelined = client(s -> {})) {
      MongoCollection<Document> collection =
          pipelined.client().getDatabase("it").getCollection("refused");

      assertThatThrownBy(() -> Mono.from(collection.find().first()).block(TIMEOUT))
          .hasMessageContaining("requires authentication");
    }
  }

  @Test
  void aServerUnderAnotherNameIsRefused() {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.applyToClusterSettings(
                    cluster ->
                        cluster.applySettings(
                            ClusterSettings.builder()
                                .hosts(List.of(new ServerAddress("127.0.0.1", mongod.port())))
                                .serverSelectionTimeout(3, TimeUnit.SECONDS)
                                .build())))) {
      MongoCollection<Document> collection =
          pipelined.client().getDatabase("it").getCollection("refused");

      assertThatThrownBy(() -> Mono.from(collection.find().first()).block(TIMEOUT))
          .hasMessageContaining("No subject alternative names");
    }
  }

  @Test
  void aServerOfAnUnknownAuthorityIsRefused() throws Exception {
    SSLContext standard = SSLContext.getDefault();
    try (PipelinedClient pipelined =
        client(
            s ->
                s.applyToSslSettings(ssl -> ssl.context(standard))
                    .applyToClusterSettings(
                        cluster -> cluster.serverSelectionTimeout(3, TimeUnit.SECONDS)))) {
      MongoCollection<Document> collection =
          pipelined.client().getDatabase("it").getCollection("refused");

      assertThatThrownBy(() -> Mono.from(collection.find().first()).block(TIMEOUT))
          .hasMessageContaining("unable to find valid certification path");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"SCRAM-SHA-1", "SCRAM-SHA-256"})
  void poolsConnectionsByScram(String user) {
    poolsConnectionsWork(
        Mechanism.scram(null, user, "it", "secret".toCharArray()), certificates.trusting());
  }

  @Test
  void poolsConnectionsByX509() {
    poolsConnectionsWork(Mechanism.x509(null), certificates.client());
  }

  @Test
  void poolsConnectionsWithAWrongPasswordAreRefused() {
    Mechanism wrong = Mechanism.scram(null, "SCRAM-SHA-256", "it", "wrong".toCharArray());
    try (WirePool pool = pool(wrong, certificates.trusting(), new SimpleMeterRegistry())) {
      // The first refusal closes the pool while other connections are being opened.
      assertThatThrownBy(
              () ->
                  Flux.range(0, 100)
                      .flatMap(n -> pool.send(server(), insert("refused", n)), 100)
                      .blockLast(TIMEOUT))
          .hasMessageContaining("SCRAM-SHA-256@it: Authentication failed");
    }
  }

  private static ServerAddressName server() {
    return new ServerAddressName("localhost", mongod.port());
  }

  private static OpMsg insert(String collection, int id) {
    return OpMsg.command(
        BsonDocument.parse(
            "{insert: '%s', documents: [{_id: %d}], $db: 'it'}".formatted(collection, id)));
  }

  private static WirePool pool(
      Mechanism credential, SSLContext context, SimpleMeterRegistry meters) {
    return new WirePool(
        LOOPS,
        new WireSettings(
            WireSettings.Sockets.of(Duration.ofSeconds(10)),
            WireSettings.PoolLimits.none(TIMEOUT),
            new WireSettings.Tls(context, false),
            new HandshakeSettings(
                BsonDocument.parse("{driver: {name: 'it', version: '1'}, os: {type: 'it'}}"),
                List.of(),
                credential),
            List.of(),
            new Addresses(Addresses.Lookup.SYSTEM, Map.of()),
            new WireSettings.Sharing(3, 64, 1 << 18, meters)));
  }

  private static void poolsConnectionsWork(Mechanism credential, SSLContext context) {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (WirePool pool = pool(credential, context, meters)) {
      String collection = "direct" + System.nanoTime();
      List<BsonDocument> replies =
          Flux.range(0, 600)
              .flatMap(n -> pool.send(server(), insert(collection, n)), 100)
              .map(reply -> (BsonDocument) reply.body())
              .collectList()
              .block(TIMEOUT);

      assertThat(replies)
          .hasSize(600)
          .allSatisfy(reply -> assertThat(reply.getNumber("ok").intValue()).isOne())
          .allSatisfy(reply -> assertThat(reply.getInt32("n").getValue()).isOne());
      assertThat(
              meters
                  .find(PipeliningMeters.SOCKETS.meterName())
                  .tag("use", "shared")
                  .gauges()
                  .stream()
                  .mapToDouble(gauge -> gauge.value())
                  .sum())
          .isBetween(1.0, 3.0);
    }
  }

  private static void everythingWorks(PipelinedClient pipelined) {
    MongoCollection<Document> collection =
        pipelined.client().getDatabase("it").getCollection("c" + System.nanoTime());
    Disposable changes = Flux.from(collection.watch()).subscribe();
    for (int round = 0; round < 3; round++) {
      int first = round * 300;
      Flux.range(first, 300)
          .flatMap(n -> collection.insertOne(new Document("_id", n)), 100)
          .blockLast(TIMEOUT);
    }
    // A cursor, which needs a socket of its own.
    assertThat(Flux.from(collection.find().batchSize(100)).count().block(TIMEOUT)).isEqualTo(900L);
    List<Integer> wrong =
        Flux.range(0, 900)
            .flatMap(
                n ->
                    Mono.from(collection.find(Filters.eq("_id", n)).first())
                        .filter(found -> !n.equals(found.getInteger("_id")))
                        .map(found -> n),
                100)
            .collectList()
            .block(TIMEOUT);
    changes.dispose();
    assertThat(wrong).isEmpty();
    assertThat(pipelined.sharedSockets()).isBetween(1.0, (double) PipelinedClient.SOCKETS);
  }
}
