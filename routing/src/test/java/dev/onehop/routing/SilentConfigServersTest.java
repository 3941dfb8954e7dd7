package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** An application starts while the config servers accept connections and send no replies. */
class SilentConfigServersTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  /**
   * The time for an operation that waits once for the config servers: longer than one such wait,
   * and shorter than two.
   */
  private static final Duration ONCE = Duration.ofSeconds(6);

  private static final Duration NOT_AT_ALL = Duration.ofMillis(1200);
  private static final int WIRE_6_0 = 17;

  private ScriptedCluster cluster;

  @BeforeEach
  void start() {
    cluster = new ScriptedCluster(WIRE_6_0);
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  @Test
  void targetedOperationsWaitOnceAndUseAnyMongos() {
    cluster.hold("m0", SilentConfigServersTest::readsMetadata);
    try (OneHop router = OneHop.builder("mongodb://" + cluster.address("m0") + "/").build();
        MongoClient client = MongoClients.create(router.clientSettings())) {
      assertThat(servingServer(client, "c", ONCE)).isEqualTo("m0");
      for (int i = 0; i < 5; i++) {
        for (String other : new String[] {"a", "b", "c"}) {
          assertThat(servingServer(client, other, NOT_AT_ALL)).isEqualTo("m0");
        }
      }

      cluster.release();

      await()
          .atMost(TIMEOUT)
          .until(() -> router.explain("it.c", Filters.eq(5)).shards().contains("s1"));
    }
  }

  @Test
  void directOperationsUseMongos() {
    cluster.hold("m0", SilentConfigServersTest::readsMetadata);
    try (MongoClient client = direct("m0")) {
      assertThat(servingServer(client, "c", ONCE)).isEqualTo("m0");
      for (String other : new String[] {"a", "b", "c"}) {
        assertThat(servingServer(client, other, NOT_AT_ALL)).isEqualTo("m0");
      }

      cluster.release();

      await().atMost(TIMEOUT).until(() -> servingServer(client, "c", ONCE).equals("s1"));
    }
  }

  @Test
  void operationsOnCollectionWithoutTableUseMongos() {
    try (MongoClient client = direct("m0")) {
      assertThat(servingServer(client, "c", ONCE)).isEqualTo("s1");
      cluster.hold("m0", SilentConfigServersTest::readsMetadata);

      assertThat(servingServer(client, "a", ONCE)).isEqualTo("m0");
      assertThat(servingServer(client, "a", NOT_AT_ALL)).isEqualTo("m0");
      assertThat(servingServer(client, "b", NOT_AT_ALL)).isEqualTo("m0");
      assertThat(servingServer(client, "c", NOT_AT_ALL)).isEqualTo("s1");

      cluster.release();

      await().atMost(TIMEOUT).until(() -> servingServer(client, "a", ONCE).equals("s1"));
      await().atMost(TIMEOUT).until(() -> servingServer(client, "b", ONCE).equals("s1"));
    }
  }

  @Test
  void directOperationsFailWithoutMongos() {
    cluster.hold("config", SilentConfigServersTest::readsMetadata);
    try (MongoClient client = direct("config")) {
      assertThatThrownBy(() -> servingServer(client, "c", ONCE))
          .hasMessageContaining("neither the config servers nor a mongos of the URI has replied");
      assertThatThrownBy(() -> servingServer(client, "a", NOT_AT_ALL))
          .hasMessageContaining("neither the config servers nor a mongos of the URI has replied");

      cluster.release();

      await()
          .atMost(TIMEOUT)
          .ignoreExceptions()
          .until(() -> servingServer(client, "c", ONCE).equals("s1"));
    }
  }

  private MongoClient direct(String seed) {
    return OneHop.builder("mongodb://" + cluster.address(seed) + "/?retryReads=false")
        .routing(RoutingMode.DIRECT)
        .client(MongoClient.class);
  }

  private static boolean readsMetadata(BsonDocument command) {
    return command.getFirstKey().equals("find")
        && command.getString("$db", new BsonString("")).getValue().equals("config");
  }

  /** The server that replied to an operation. */
  private static String servingServer(MongoClient client, String collection, Duration within) {
    return Mono.from(client.getDatabase("it").getCollection(collection).find(Filters.eq(5)).first())
        .block(within)
        .getString("from");
  }
}
