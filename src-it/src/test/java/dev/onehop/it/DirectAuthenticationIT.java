package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import javax.net.ssl.SSLContext;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Direct mode's connections to the config server and to every shard. All of them authenticate, use
 * TLS and check the server's name. An error names the server and the reason.
 */
@Tag("full")
class DirectAuthenticationIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int HALF = 100;

  /** Filters for the documents of shard {@code one} and of shard {@code two}. */
  private static final List<Bson> SHARDS =
      List.of(Filters.lt("_id", HALF), Filters.gte("_id", HALF));

  private static TestCertificates certificates;
  private static SecuredCluster cluster;

  @BeforeAll
  static void start() {
    certificates = TestCertificates.create();
    cluster = SecuredCluster.startWithTls(certificates);
    for (String mechanism : List.of("SCRAM-SHA-1", "SCRAM-SHA-256")) {
      cluster.createUser(
          new Document("createUser", mechanism)
              .append("pwd", "secret")
              .append("mechanisms", List.of(mechanism))
              .append("roles", roles()),
          "admin",
          "config",
          "one",
          "two");
    }
    cluster.createUser(
        new Document("createUser", TestCertificates.CLIENT).append("roles", roles()),
        "$external",
        "config",
        "one",
        "two");
    cluster.shardCollection("everything", HALF);
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  private static List<Document> roles() {
    return List.of(
        new Document("role", "readWrite").append("db", "it"),
        new Document("role", "read").append("db", "config"));
  }

  @ParameterizedTest
  @CsvSource({
    "SCRAM-SHA-1, false",
    "SCRAM-SHA-256, false",
    "SCRAM-SHA-1, true",
    "SCRAM-SHA-256, true"
  })
  void scramNegotiatesMechanism(String user, boolean pipelining) {
    assertReadsAndWritesWork(
        client(
            "",
            pipelining,
            s ->
                s.credential(
                    MongoCredential.createCredential(user, "admin", "secret".toCharArray()))));
  }

  @ParameterizedTest
  @ValueSource(strings = {"SCRAM-SHA-1", "SCRAM-SHA-256"})
  void scramWithNamedMechanism(String mechanism) {
    assertReadsAndWritesWork(
        client(
            "",
            false,
            s ->
                s.credential(
                    mechanism.equals("SCRAM-SHA-1")
                        ? MongoCredential.createScramSha1Credential(
                            mechanism, "admin", "secret".toCharArray())
                        : MongoCredential.createScramSha256Credential(
                            mechanism, "admin", "secret".toCharArray()))));
  }

  @Test
  void scramFromUri() {
    assertReadsAndWritesWork(
        OneHop.builder(
                cluster.url().replace("//", "//SCRAM-SHA-256:secret@")
                    + "?tls=true&authSource=admin&authMechanism=SCRAM-SHA-256")
            .applyToClientSettings(
                s -> s.applyToSslSettings(ssl -> ssl.context(certificates.trusting())))
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void x509(boolean pipelining) {
    assertReadsAndWritesWork(
        client(
            "",
            pipelining,
            s ->
                s.credential(MongoCredential.createMongoX509Credential())
                    .applyToSslSettings(ssl -> ssl.context(certificates.client()))));
  }

  /** Synchronous clients use separate sockets to the shards, without the router's event loops. */
  @ParameterizedTest
  @CsvSource({
    "SCRAM-SHA-1, ''",
    "SCRAM-SHA-256, ''",
    "X.509, ''",
    "SCRAM-SHA-256, ?compressors=zlib",
    "SCRAM-SHA-256, ?compressors=snappy",
    "SCRAM-SHA-256, ?compressors=zstd"
  })
  void synchronousClientsAuthenticate(String user, String options) {
    OneHop.Builder builder =
        builder(
            options,
            s -> {
              if (user.equals("X.509")) {
                s.credential(MongoCredential.createMongoX509Credential())
                    .applyToSslSettings(ssl -> ssl.context(certificates.client()));
              } else {
                s.credential(
                    MongoCredential.createCredential(user, "admin", "secret".toCharArray()));
              }
            });
    try (com.mongodb.client.MongoClient client =
        builder.client(com.mongodb.client.MongoClient.class)) {
      com.mongodb.client.MongoCollection<Document> collection =
          client.getDatabase("it").getCollection("everything");
      SHARDS.forEach(collection::deleteMany);
      IntStream.range(0, 2 * HALF)
          .parallel()
          .forEach(n -> collection.insertOne(new Document("_id", n)));
      SHARDS.forEach(shard -> assertThat(collection.countDocuments(shard)).isEqualTo(HALF));
      for (int n = 0; n < 2 * HALF; n++) {
        assertThat(collection.find(new Document("_id", n)).first()).isNotNull();
      }
    }
  }

  @Test
  void rejectsX509WithoutCertificate() {
    assertRefused(
        client("", false, s -> s.credential(MongoCredential.createMongoX509Credential())),
        cluster.address("config") + " refuses the certificate's user: No verified subject name");
  }

  @Test
  void wrongPasswordErrorNamesServerAndUser() {
    assertRefused(
        client(
            "",
            false,
            s ->
                s.credential(
                    MongoCredential.createCredential(
                        "SCRAM-SHA-256", "admin", "wrong".toCharArray()))),
        cluster.address("config") + " refuses user SCRAM-SHA-256@admin: Authentication failed");
  }

  @Test
  void unknownUserErrorNamesServerAndUser() {
    assertRefused(
        client(
            "",
            true,
            s ->
                s.credential(
                    MongoCredential.createCredential("nobody", "admin", "x".toCharArray()))),
        cluster.address("config") + " refuses user nobody@admin: Authentication failed");
  }

  @Test
  void failsWithoutCredentials() {
    assertRefused(client("", false, s -> {}), "requires authentication");
  }

  /**
   * No server of the test supports PLAIN. The server's error shows that OneHop has sent the
   * mechanism.
   */
  @Test
  void serverRejectsUnsupportedMechanism() {
    assertRefused(
        client(
            "",
            false,
            s ->
                s.credential(
                    MongoCredential.createPlainCredential("u", "$external", "p".toCharArray()))),
        cluster.address("config") + " refuses user u@$external",
        "PLAIN");
  }

  @ParameterizedTest
  @CsvSource({"zlib, false", "zlib, true", "snappy, false", "zstd, false"})
  void worksWithCompression(String compressor, boolean pipelining) {
    assertReadsAndWritesWork(
        client("?compressors=" + compressor, pipelining, s -> s.credential(scram())));
  }

  @Test
  void rejectsCertificateWithAnotherName() {
    String port = cluster.url().replaceAll("\\D", "");
    assertRefused(
        OneHop.builder("mongodb://127.0.0.1:" + port + "/?serverSelectionTimeoutMS=2000")
            .applyToClientSettings(
                s ->
                    s.credential(scram())
                        .applyToSslSettings(
                            ssl -> ssl.enabled(true).context(certificates.trusting())))
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class),
        "127.0.0.1:" + port,
        "No subject alternative names");
  }

  /**
   * The server has a certificate for another name. The application has turned off the check of
   * names, so OneHop accepts the server.
   */
  @Test
  void acceptsCertificateWithAnotherNameIfAllowed() {
    String port = cluster.url().replaceAll("\\D", "");
    assertReadsAndWritesWork(
        OneHop.builder("mongodb://127.0.0.1:" + port + "/")
            .applyToClientSettings(
                s ->
                    s.credential(scram())
                        .applyToSslSettings(
                            ssl ->
                                ssl.enabled(true)
                                    .invalidHostNameAllowed(true)
                                    .context(certificates.trusting())))
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class));
  }

  @Test
  void rejectsCertificateOfUnknownAuthority() throws Exception {
    SSLContext standard = SSLContext.getDefault();
    assertRefused(
        client(
            "?serverSelectionTimeoutMS=2000",
            false,
            s -> s.credential(scram()).applyToSslSettings(ssl -> ssl.context(standard))),
        cluster.address("config"),
        "unable to find valid certification path");
  }

  @Test
  void failsWithoutTls() {
    assertRefused(
        OneHop.builder(cluster.url() + "?serverSelectionTimeoutMS=2000")
            .applyToClientSettings(s -> s.credential(scram()))
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class),
        cluster.address("config") + " is unreachable");
  }

  private static MongoCredential scram() {
    return MongoCredential.createCredential("SCRAM-SHA-256", "admin", "secret".toCharArray());
  }

  private static OneHop.Builder builder(
      String options, Consumer<MongoClientSettings.Builder> change) {
    return OneHop.builder(cluster.url() + options)
        .applyToClientSettings(
            settings -> {
              settings.applyToSslSettings(
                  ssl -> ssl.enabled(true).context(certificates.trusting()));
              change.accept(settings);
            })
        .routing(RoutingMode.DIRECT);
  }

  private static MongoClient client(
      String options, boolean pipelining, Consumer<MongoClientSettings.Builder> change) {
    OneHop.Builder builder = builder(options, change);
    return (pipelining ? builder.pipelining(p -> {}) : builder).client(MongoClient.class);
  }

  private static void assertRefused(MongoClient client, String... parts) {
    try (client) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection("everything");
      assertThatThrownBy(() -> onBothShards(collection)).hasMessageContainingAll(parts);
    }
  }

  /** Reads and writes on both shards, over many connections. */
  private static void assertReadsAndWritesWork(MongoClient client) {
    try (client) {
      MongoCollection<Document> collection = client.getDatabase("it").getCollection("everything");
      for (Bson shard : SHARDS) {
        run(collection.deleteMany(shard));
      }
      Flux.range(0, 2 * HALF)
          .flatMap(n -> collection.insertOne(new Document("_id", n)), 32)
          .blockLast(TIMEOUT);
      assertThat(onBothShards(collection)).hasSize(2 * HALF).isSorted();
      for (Bson shard : SHARDS) {
        assertThat(run(collection.updateMany(shard, Updates.set("x", 1))).getModifiedCount())
            .isEqualTo(HALF);
      }
    }
    try (var one = cluster.administrator("one");
        var two = cluster.administrator("two")) {
      assertThat(one.getDatabase("it").getCollection("everything").countDocuments())
          .isEqualTo(HALF);
      assertThat(two.getDatabase("it").getCollection("everything").countDocuments())
          .isEqualTo(HALF);
    }
  }

  /** The documents of one shard and then of the other shard, read in batches. */
  private static List<Integer> onBothShards(MongoCollection<Document> collection) {
    return Flux.fromIterable(SHARDS)
        .concatMap(shard -> collection.find(shard).sort(Sorts.ascending("_id")).batchSize(30))
        .map(found -> found.getInteger("_id"))
        .collectList()
        .block(TIMEOUT);
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
