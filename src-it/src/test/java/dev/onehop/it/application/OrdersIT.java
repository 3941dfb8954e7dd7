package dev.onehop.it.application;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.onehop.routing.OneHop;
import dev.onehop.testbed.evidence.Placement;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.Test;

/** A test of an application, as docs/testing.md shows it. */
@ShardedCluster
class OrdersIT {
  @Test
  void ordersAreFound(SharedCluster cluster) {
    cluster.shardCollection(
        "orders",
        BsonDocument.parse("{customer: 1}"),
        List.of(BsonDocument.parse("{customer: 'h'}"), BsonDocument.parse("{customer: 'q'}")));
    try (MongoClient client = OneHop.builder(cluster.url()).client(MongoClient.class)) {
      MongoCollection<Document> orders =
          client.getDatabase(cluster.database()).getCollection("orders");
      orders.insertMany(List.of(new Document("customer", "ada"), new Document("customer", "zoe")));

      assertThat(orders.find(Filters.eq("customer", "zoe")).first()).containsKey("_id");
    }
    assertThat(cluster.evidence("orders").placement()).matches(Placement::isRight);
  }
}
