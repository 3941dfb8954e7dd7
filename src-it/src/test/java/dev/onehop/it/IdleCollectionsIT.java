package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.observation.RouteExplanation;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/**
 * The reads on the config servers while an application uses many collections and nothing changes.
 * The config server's profiler counts them for more than two refresh intervals.
 */
@Tag("nightly")
class IdleCollectionsIT {
  private static final int COLLECTIONS = 300;
  private static final Duration WATCHED =
      Duration.ofSeconds(Integer.getInteger("onehop.it.idle.seconds", 30));
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  @Test
  void idleCollectionsCauseFewConfigReads() throws InterruptedException {
    try (Testbed testbed = Testbed.builder(Topology.named("single-host")).start()) {
      testbed.shardHashedCollection(
          "it.first", new BsonDocument("_id", new BsonString("hashed")), 6);
      ManyChunks chunks = new ManyChunks(testbed);
      for (int i = 0; i < COLLECTIONS; i++) {
        chunks.create("it.c" + i, 6);
      }
      String config = testbed.configServers().replaceFirst(".*/", "").replaceFirst(",.*", "");
      try (OneHop router = OneHop.builder(testbed.url()).build();
          MongoClient watching =
              MongoClients.create("mongodb://" + config + "/?directConnection=true")) {
        assertThat(routed(router)).isEqualTo(COLLECTIONS);
        MongoDatabase profiled = watching.getDatabase("config");
        MongoCollection<Document> profile = profiled.getCollection("system.profile");
        profiled.runCommand(new Document("profile", 2));

        RealTime.pass(WATCHED);

        profiled.runCommand(new Document("profile", 0));
        long reads =
            profile.countDocuments(
                Filters.regex(
                    "ns", "^config\\.(collections|chunks|databases|shards|mongos|changelog)$"));
        System.err.printf(
            "%d collections: %d reads of config in %s%n", COLLECTIONS, reads, WATCHED);
        assertThat(reads).isBetween(2L, 100L);
        assertThat(routed(router)).isEqualTo(COLLECTIONS);
      }
    }
  }

  private static long routed(OneHop router) {
    return Flux.range(0, COLLECTIONS)
        .flatMap(i -> router.explainAsync("it.c" + i, Filters.eq("a")), 8)
        .map(RouteExplanation::shards)
        .filter(shards -> shards.size() == 1)
        .count()
        .block(TIMEOUT);
  }
}
