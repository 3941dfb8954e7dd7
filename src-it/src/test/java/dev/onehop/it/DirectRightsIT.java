package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoCredential;
import com.mongodb.MongoException;
import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The rights that a user of direct mode needs, the errors for missing rights, and the script that
 * creates the user.
 */
@Tag("full")
class DirectRightsIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /** Filters for the documents of shard {@code one} and of shard {@code two}. */
  private static final List<Bson> SHARDS = List.of(Filters.lt("_id", 100), Filters.gte("_id", 100));

  private static final Document DATA = new Document("role", "readWrite").append("db", "it");
  private static final Document ROUTING = new Document("role", "read").append("db", "config");

  private static SecuredCluster cluster;

  @BeforeAll
  static void start() {
    cluster = SecuredCluster.start();
    cluster.shardCollection("rights", 100);
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  void worksWithSameUserOnAllServers() {
    create("complete", List.of(DATA, ROUTING), "config");
    create("complete", List.of(DATA), "one", "two");

    try (MongoClient client = client("complete")) {
      assertReadsAndWritesWork(client);
    }
  }

  @Test
  void reportsShardWithoutUser() {
    create("incomplete", List.of(DATA, ROUTING), "config", "one");

    assertRefused(
        "incomplete",
        18,
        "shard two rejects the user",
        cluster.address("two") + " refuses user incomplete@admin: Authentication failed",
        "docker/direct-users.js");
  }

  @Test
  void reportsMissingPrivilegeOnRoutingMetadata() {
    create("blind", List.of(DATA), "config", "one", "two");

    assertRefused("blind", 13, "Missing privilege: action find on the database config");
  }

  /**
   * If the user has no right on the data, the application gets the shard's refusal, as without
   * OneHop.
   */
  @Test
  void shardRejectsUserWithoutDataRights() {
    create("stranger", List.of(ROUTING), "config");
    create("stranger", List.of(new Document("role", "read").append("db", "other")), "one", "two");

    assertRefused("stranger", 13, "not authorized on it to execute command");
  }

  /** A user that is created while the application runs works without a restart. */
  @Test
  void worksAfterMissingUserIsCreated() {
    create("late", List.of(DATA, ROUTING), "config", "one");
    try (MongoClient client = client("late")) {
      assertThatThrownBy(() -> onBothShards(client))
          .hasMessageContaining("shard two rejects the user");
      create("late", List.of(DATA), "two");
      // OneHop keeps a refusal for a second, so the test tries again.
      await().atMost(TIMEOUT).ignoreExceptions().until(() -> onBothShards(client) >= 0);

      assertReadsAndWritesWork(client);
    }
  }

  @Test
  void scriptCreatesUser() throws IOException, InterruptedException {
    for (String password : List.of("first password", "s&cond/p@ss:word")) {
      String output =
          UserScript.run(
              "direct-users.js",
              cluster,
              "",
              Map.of(
                  "ONEHOP_USER", "scripted",
                  "ONEHOP_PASSWORD", password,
                  "ONEHOP_DATABASES", "it"));

      assertThat(output)
          .contains("config servers: scripted has its roles", "one: scripted", "two: scripted");
      try (MongoClient client = client("scripted", password)) {
        assertReadsAndWritesWork(client);
      }
    }
    assertThat(cluster.roles("one", "scripted")).containsExactly(DATA);
    assertThat(cluster.roles("two", "scripted")).containsExactly(DATA);
    assertThat(cluster.roles("config", "scripted"))
        .containsExactlyInAnyOrder(
            DATA, ROUTING, new Document("role", "clusterMonitor").append("db", "admin"));
  }

  private static void create(String user, List<Document> roles, String... servers) {
    cluster.createUser(
        new Document("createUser", user).append("pwd", "secret").append("roles", roles),
        "admin",
        servers);
  }

  private static MongoClient client(String user) {
    return client(user, "secret");
  }

  private static MongoClient client(String user, String password) {
    return OneHop.builder(cluster.url())
        .applyToClientSettings(
            settings ->
                settings.credential(
                    MongoCredential.createCredential(user, "admin", password.toCharArray())))
        .routing(RoutingMode.DIRECT)
        .client(MongoClient.class);
  }

  private static MongoCollection<Document> rights(MongoClient client) {
    return client.getDatabase("it").getCollection("rights");
  }

  private static void assertRefused(String user, int code, String... parts) {
    try (MongoClient client = client(user)) {
      assertThatThrownBy(() -> onBothShards(client))
          .isInstanceOfSatisfying(
              MongoException.class, e -> assertThat(e.getCode()).isEqualTo(code))
          .hasMessageContainingAll(parts);
      assertThatThrownBy(() -> run(rights(client).insertOne(new Document("_id", -1))))
          .isInstanceOf(MongoCommandException.class)
          .hasMessageContainingAll(parts);
    }
    // The refused insert was not executed.
    try (var shard = cluster.administrator("one")) {
      assertThat(
              shard.getDatabase("it").getCollection("rights").find(new Document("_id", -1)).first())
          .isNull();
    }
  }

  private static void assertReadsAndWritesWork(MongoClient client) {
    MongoCollection<Document> collection = rights(client);
    for (Bson shard : SHARDS) {
      run(collection.deleteMany(shard));
    }
    Flux.range(0, 200)
        .flatMap(n -> collection.insertOne(new Document("_id", n)), 16)
        .blockLast(TIMEOUT);
    assertThat(onBothShards(client)).isEqualTo(200);
  }

  /** The number of documents on both shards, read by one find on each shard. */
  private static long onBothShards(MongoClient client) {
    return Flux.fromIterable(SHARDS)
        .concatMap(shard -> rights(client).find(shard))
        .count()
        .blockOptional(TIMEOUT)
        .orElseThrow();
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
