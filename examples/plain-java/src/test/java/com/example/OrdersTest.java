package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.observation.RouterStatus;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

@ShardedCluster
class OrdersTest {
  @Test
  void operationsGoToTheShardThatOwnsTheOrder(SharedCluster cluster) {
    cluster.shardCollection(
        "orders",
        BsonDocument.parse("{customer: 1}"),
        List.of(BsonDocument.parse("{customer: 'h'}"), BsonDocument.parse("{customer: 'q'}")));
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (OneHop router = OneHop.builder(cluster.url()).meterRegistry(meters).build();
        MongoClient client = MongoClients.create(router.syncClientSettings())) {
      RouterStatus status = router.ready(Duration.ofSeconds(20), cluster.database() + ".orders");
      assertTrue(status.isReady(), status.toString());
      Orders orders = new Orders(client, cluster.database());
      orders.place("ada", 10);
      orders.place("zoe", 20);

      assertEquals(20, orders.of("zoe").getInteger("amount"));
    }
    assertEquals(
        3, meters.get("onehop.operations").tag("decision", "owner").timers().stream()
            .mapToLong(timer -> timer.count())
            .sum());
  }
}
