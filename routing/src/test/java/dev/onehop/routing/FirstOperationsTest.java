package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/**
 * An application starts in direct mode while one shard is silent. Operations on the other shard
 * succeed.
 */
class FirstOperationsTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  /**
   * The time for an operation that does not wait for the silent shard. It is much shorter than the
   * time after which that shard is logged.
   */
  private static final Duration SOON = Duration.ofSeconds(2);

  private static final int WIRE_6_0 = 17;
  private static final int WIRE_8_0 = 25;

  private ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);

  /** Loads the classes of a client, which would delay a test's first operation. */
  @BeforeAll
  static void loadClasses() {
    try (ScriptedCluster healthy = new ScriptedCluster(WIRE_6_0);
        MongoClient client =
            OneHop.builder("mongodb://" + healthy.address("config") + "/")
                .routing(RoutingMode.DIRECT)
                .client(MongoClient.class)) {
      assertThat(find(client, 5)).succeedsWithin(TIMEOUT);
    }
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private OneHop.Builder direct(String options) {
    return OneHop.builder("mongodb://" + cluster.address("config") + "/?" + options)
        .routing(RoutingMode.DIRECT);
  }

  private static CompletableFuture<Document> find(MongoClient client, int id) {
    MongoCollection<Document> collection = client.getDatabase("it").getCollection("c");
    return Mono.from(collection.find(Filters.eq(id)).first()).toFuture();
  }

  private void makeSilent(boolean killed) {
    if (killed) {
      cluster.stop("s0");
    } else {
      cluster.hold("s0", command -> true);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void otherShardIsServedAtOnce(boolean killed) {
    makeSilent(killed);
    try (MongoClient client = direct("").client(MongoClient.class)) {
      assertThat(find(client, 5)).succeedsWithin(SOON).isEqualTo(new Document("from", "s1"));
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void otherShardIsServedToSynchronousDriver(boolean killed) {
    assertServed("");
    makeSilent(killed);
    assertServed("timeoutMS=2000");
  }

  private void assertServed(String options) {
    try (com.mongodb.client.MongoClient client =
        direct(options).client(com.mongodb.client.MongoClient.class)) {
      assertThat(client.getDatabase("it").getCollection("c").find(Filters.eq(5)).first())
          .isEqualTo(new Document("from", "s1"));
    }
  }

  @Test
  void checksSilentShardBeforeFirstCommand() {
    cluster.hold("s0", command -> command.getFirstKey().equals("connectionStatus"));
    try (MongoClient client = direct("").client(MongoClient.class)) {
      assertThat(find(client, 5)).succeedsWithin(SOON);
      CompletableFuture<Document> found = find(client, -5);
      // Later operations on the other shard s1 succeed. No operation goes to s0 before the check of
      // the user's rights.
      assertThat(find(client, 5)).succeedsWithin(SOON);
      assertThat(cluster.seen("s0", "connectionStatus")).isNotEmpty();
      assertThat(cluster.seen("s0", "find")).isEmpty();

      cluster.release();

      assertThat(found).succeedsWithin(TIMEOUT).isEqualTo(new Document("from", "s0"));
    }
  }

  /**
   * Once the silent shard replies that the user lacks a role, all commands fail, as if it had
   * replied at the start.
   */
  @Test
  void reportsMissingRoleAfterLateReply() {
    cluster.close();
    cluster = new ScriptedCluster(WIRE_8_0);
    cluster.script(
        "s0",
        command ->
            command.getFirstKey().equals("connectionStatus")
                ? BsonDocument.parse(
                    "{ok: 1, authInfo: {authenticatedUsers: [{user: 'u', db: 'admin'}],"
                        + " authenticatedUserPrivileges: []}}")
                : null);
    cluster.hold("s0", command -> true);
    try (MongoClient client = direct("").client(MongoClient.class)) {
      assertThat(find(client, 5)).succeedsWithin(TIMEOUT);
      CompletableFuture<Document> found = find(client, -5);
      cluster.release();

      assertThatThrownBy(found::join).hasMessageContaining("shard s0 has version 8.0 or later");
      assertThatThrownBy(() -> find(client, 5).join())
          .hasMessageContaining("shard s0 has version 8.0 or later");
      assertThat(cluster.seen("s0", "find")).isEmpty();
    }
  }
}
