package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.onehop.it.clients.RoutedModes;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.evidence.RouterSampling;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.Document;
import org.junit.jupiter.api.BeforeAll;

/**
 * What is targeted mode's own; {@link EveryModeIT} has the rest, and {@link RoutedOperationsIT}
 * where operations are served.
 */
@ShardedCluster
class TargetedModeIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);
  private static final int DOCUMENTS = 300;
  private static final int CONCURRENCY = 32;
  private static final int ROUNDS = Boolean.getBoolean("onehop.it.full") ? 3 : 2;
  private static final String NAME = "targeted";
  private static final String CUT_OFF = "127.33.0.2:27017";

  private static SharedCluster cluster;

  @BeforeAll
  static void shard(SharedCluster shared) {
    cluster = shared;
    cluster.shardCollection(NAME, Numbered.KEY, Numbered.splitAt(100, 200));
  }

  @RoutedModes(mode = RoutingMode.TARGETED)
  void aMongosThatIsCutOffFailsNothingAndIsUsedAgain(MongoClient client) throws Exception {
    MongoCollection<Document> collection =
        client.getDatabase(cluster.database()).getCollection(NAME);
    collection.deleteMany(new Document());
    collection.insertMany(
        Numbered.documents(DOCUMENTS).stream().map(each -> each.append("n", 0)).toList());
    AtomicIntegerArray acknowledged = new AtomicIntegerArray(DOCUMENTS);
    AtomicLong operations = new AtomicLong();
    AtomicBoolean stopped = new AtomicBoolean();
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    CompletableFuture<?> load =
        CompletableFuture.runAsync(
            () ->
                InParallel.call(
                    CONCURRENCY,
                    CONCURRENCY,
                    worker -> {
                      while (!stopped.get()) {
                        int number = (int) operations.getAndIncrement();
                        int id = number * 7 % DOCUMENTS;
                        try {
                          if (number % 2 == 0) {
                            collection.find(Filters.eq(id)).first();
                          } else {
                            collection.updateOne(Filters.eq(id), Updates.inc("n", 1));
                            acknowledged.incrementAndGet(id);
                          }
                        } catch (RuntimeException e) {
                          failures.add(e);
                        }
                      }
                      return null;
                    }));
    try {
      for (int round = 0; round < ROUNDS; round++) {
        long before = operations.get();
        cluster.testbed().setBlocked(CUT_OFF, true);
        await().atMost(TIMEOUT).until(() -> operations.get() > before + 2_000);
        cluster.testbed().setBlocked(CUT_OFF, false);
        await().atMost(TIMEOUT).until(() -> besideOwner(collection) == 1);
      }
    } finally {
      cluster.testbed().setBlocked(CUT_OFF, false);
      stopped.set(true);
      load.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    assertThat(failures).isEmpty();
    for (Document document : collection.find()) {
      int id = document.getInteger("_id");
      assertThat(document.getInteger("n")).as("document %d", id).isEqualTo(acknowledged.get(id));
    }
  }

  private static double besideOwner(MongoCollection<Document> collection) {
    try (RouterSampling sampling = cluster.evidence(NAME).sampleRouters(1)) {
      InParallel.call(
          CONCURRENCY,
          DOCUMENTS,
          i -> {
            collection.find(Filters.eq(i)).first();
            return collection.updateOne(Filters.eq(i), Updates.set("x", i));
          });
      return sampling.besideOwner().fraction().orElse(0);
    }
  }
}
