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
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Shared sockets authenticate over TLS with every mechanism of the tested server. */
@Tag("full")
class PipelinedAuthenticationIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

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
  void scramNegotiatesMechanism(String user) {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.credential(
                    MongoCredential.createCredential(user, "it", "secret".toCharArray())))) {
      assertWorks(pipelined);
    }
  }

  @Test
  void authenticatesWithExplicitScramSha1() {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.credential(
                    MongoCredential.createScramSha1Credential(
                        "SCRAM-SHA-1", "it", "secret".toCharArray())))) {
      assertWorks(pipelined);
    }
  }

  @Test
  void authenticatesWithX509() {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.credential(MongoCredential.createMongoX509Credential())
                    .applyToSslSettings(ssl -> ssl.context(certificates.client())))) {
      assertWorks(pipelined);
    }
  }

  /**
   * With the strict Stable API, a server refuses a second authentication on a connection, even of
   * the same user.
   */
  @ParameterizedTest
  @ValueSource(strings = {"SCRAM-SHA-1", "SCRAM-SHA-256"})
  void authenticatesWithScramInStrictApi(String user) {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.serverApi(STRICT)
                    .credential(
                        MongoCredential.createCredential(user, "it", "secret".toCharArray())))) {
      assertWorks(pipelined);
    }
  }

  @Test
  void authenticatesWithX509InStrictApi() {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.serverApi(STRICT)
                    .credential(MongoCredential.createMongoX509Credential())
                    .applyToSslSettings(ssl -> ssl.context(certificates.client())))) {
      assertWorks(pipelined);
    }
  }

  @Test
  void rejectsWrongPasswordInStrictApi() {
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
  void rejectsWrongPassword() {
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
  void rejectsOperationsWithoutCredentials() {
    try (PipelinedClient pipelined = client(s -> {})) {
      MongoCollection<Document> collection =
          pipelined.client().getDatabase("it").getCollection("refused");

      assertThatThrownBy(() -> Mono.from(collection.find().first()).block(TIMEOUT))
          .hasMessageContaining("requires authentication");
    }
  }

  @Test
  void rejectsServerWithWrongHostName() {
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
  void rejectsServerOfUnknownAuthority() throws Exception {
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

  /**
   * The first failed authentication clears the pool while the pool opens other connections. Even
   * so, the error must report the refusal.
   */
  @Test
  void rejectsWrongPasswordOfConcurrentOperations() {
    try (PipelinedClient pipelined =
        client(
            s ->
                s.credential(
                    MongoCredential.createCredential(
                        "SCRAM-SHA-256", "it", "wrong".toCharArray())))) {
      MongoCollection<Document> collection =
          pipelined.client().getDatabase("it").getCollection("refused");

      assertThatThrownBy(
              () ->
                  Flux.range(0, 100)
                      .flatMap(n -> collection.insertOne(new Document("_id", n)), 100)
                      .blockLast(TIMEOUT))
          .hasMessageContaining("SCRAM-SHA-256@it: Authentication failed");
    }
  }

  private static void assertWorks(PipelinedClient pipelined) {
    MongoCollection<Document> collection =
        pipelined.client().getDatabase("it").getCollection("c" + System.nanoTime());
    Disposable changes = Flux.from(collection.watch()).subscribe();
    for (int round = 0; round < 3; round++) {
      int first = round * 300;
      Flux.range(first, 300)
          .flatMap(n -> collection.insertOne(new Document("_id", n)), 100)
          .blockLast(TIMEOUT);
    }
    // Reads a cursor in several batches, which needs a separate socket.
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
