package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.onehop.shards.command.ScriptedCluster;
import java.util.List;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A cluster during an upgrade to servers that refer to shards by UUID. */
class ShardUuidsTest {
  private static final int WIRE_8_0 = 25;

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_8_0).withShardUuids();

  @BeforeEach
  void oneCollectionIsSharded() {
    List.of("config", "m0", "m1")
        .forEach(server -> cluster.script(server, ScriptedCluster::othersUnsharded));
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void directModeResolvesShardUuids() {
    try (MongoClient client =
        OneHop.builder("mongodb://" + cluster.address("config") + "/")
            .routing(RoutingMode.DIRECT)
            .client(MongoClient.class)) {
      MongoDatabase database = client.getDatabase("it");
      assertThat(find(database, "c", -5)).containsEntry("from", "s0");
      assertThat(find(database, "c", 5)).containsEntry("from", "s1");
      assertThat(find(database, "unsharded", 5)).containsEntry("from", "s0");
    }
    assertThat(cluster.seen("s1", "find").get(0).getDocument("shardVersion").getTimestamp("v"))
        .hasToString("Timestamp{value=4294967297, seconds=1, inc=1}");
  }

  @Test
  void targetedModeResolvesShardUuids() {
    try (MongoClient client =
        OneHop.builder("mongodb://" + cluster.address("m0") + "/")
            .shardRouters("s0", cluster.address("m0").toString())
            .shardRouters("s1", cluster.address("m1").toString())
            .client(MongoClient.class)) {
      MongoDatabase database = client.getDatabase("it");
      assertThat(find(database, "c", -5)).containsEntry("from", "m0");
      assertThat(find(database, "c", 5)).containsEntry("from", "m1");
      assertThat(find(database, "unsharded", 5)).containsEntry("from", "m0");
    }
  }

  private static Document find(MongoDatabase database, String collection, int id) {
    return database.getCollection(collection).find(Filters.eq(id)).first();
  }
}
