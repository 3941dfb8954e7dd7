package com.example;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Sorts;
import com.mongodb.client.model.UpdateOptions;
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
  void theCopyFollowsTheCollection(SharedCluster cluster) {
    cluster.shardCollection(
        "orders",
        BsonDocument.parse("{_id: 1}"),
        List.of(BsonDocument.parse("{_id: 30}"), BsonDocument.parse("{_id: 60}")));
    try (MongoClient client = MongoClients.create(cluster.url())) {
      MongoDatabase source = client.getDatabase(cluster.database());
      MongoDatabase copy = client.getDatabase(cluster.database() + "_copy");
      MongoCollection<Document> orders = source.getCollection("orders");
      Disposable mirror =
          Mirror.run(cluster.url(), cluster.database() + ".orders", client, copy.getName())
              .subscribe();
      try {
        // A group begins at the present: until its first event is there, one is written again.
        Flux.interval(Duration.ofMillis(200)).onBackpressureDrop()
            .concatMap(i -> orders.updateOne(Filters.eq(-1), Updates.set("n", i), upsert()))
            .concatMap(done -> copy.getCollection("orders").countDocuments())
            .filter(count -> count > 0)
            .blockFirst(TIMEOUT);
        Flux.range(0, 90)
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
        assertEquals(81, found.size());
      } finally {
        mirror.dispose();
      }
      Mono.from(copy.drop()).block(TIMEOUT);
    }
  }

  private static UpdateOptions upsert() {
    return new UpdateOptions().upsert(true);
  }

  private static Mono<List<Document>> documents(MongoDatabase copy) {
    return Flux.from(copy.getCollection("orders").find().sort(Sorts.ascending("_id"))).collectList();
  }

  private static List<Document> all(MongoCollection<Document> orders) {
    return Flux.from(orders.find().sort(Sorts.ascending("_id"))).collectList().block(TIMEOUT);
  }
}
