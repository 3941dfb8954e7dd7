package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

@ShardedCluster
class MirrorTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  @Test
  void theCopyHasTheCollectionAndFollowsIt(SharedCluster cluster) {
    cluster.shardCollection(
        "orders",
        BsonDocument.parse("{_id: 1}"),
        List.of(BsonDocument.parse("{_id: 30}"), BsonDocument.parse("{_id: 60}")));
    try (MongoClient client = MongoClients.create(cluster.url())) {
      MongoDatabase source = client.getDatabase(cluster.database());
      MongoDatabase copy = client.getDatabase(cluster.database() + "_copy");
      MongoCollection<Document> orders = source.getCollection("orders");
      Flux.range(0, 50)
          .concatMap(i -> orders.insertOne(new Document("_id", i).append("n", 0)))
          .blockLast(TIMEOUT);
      Disposable mirror =
          Mirror.run(cluster.url(), cluster.database() + ".orders", client, copy.getName())
              .subscribe();
      try {
        Flux.range(50, 40)
            .concatMap(i -> orders.insertOne(new Document("_id", i).append("n", 0)))
            .blockLast(TIMEOUT);
        Mono.from(orders.updateMany(Filters.lt("_id", 45), Updates.inc("n", 1))).block(TIMEOUT);
        Mono.from(orders.deleteMany(Filters.gte("_id", 80))).block(TIMEOUT);

        List<Document> expected = all(orders);
        List<Document> found =
            Flux.interval(Duration.ofMillis(200)).onBackpressureDrop()
                .concatMap(i -> documents(copy))
                .filter(expected::equals)
                .blockFirst(TIMEOUT);
        assertEquals(80, found.size());
      } finally {
        mirror.dispose();
      }
      Mono.from(copy.drop()).block(TIMEOUT);
    }
  }

  private static Mono<List<Document>> documents(MongoDatabase copy) {
    return Flux.from(copy.getCollection("orders").find().sort(Sorts.ascending("_id"))).collectList();
  }

  private static List<Document> all(MongoCollection<Document> orders) {
    return Flux.from(orders.find().sort(Sorts.ascending("_id"))).collectList().block(TIMEOUT);
  }
}
