package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.Document;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The only server of the URI stops and starts again. */
class OutageTest {
  private static final int WIRE_6_0 = 17;

  /**
   * The time in which a server that is back is found: while operations wait, the driver checks a
   * lost server twice a second.
   */
  private static final Duration SOON = Duration.ofSeconds(3);

  @ParameterizedTest
  @EnumSource(names = {"TARGETED", "NONE"})
  void findsRestartedServerSoon(RoutingMode mode) {
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);
        MongoClient client =
            OneHop.builder("mongodb://" + cluster.address("m0") + "/?retryReads=false")
                .routing(mode)
                .client(MongoClient.class)) {
      MongoCollection<Document> collection = client.getDatabase("db").getCollection("c");
      AtomicInteger found = new AtomicInteger();
      AtomicBoolean finished = new AtomicBoolean();
      CompletableFuture<Void> finding =
          CompletableFuture.runAsync(
              () -> {
                while (!finished.get()) {
                  pass(find(collection, found) ? 10 : 1_500);
                }
              });
      await().until(() -> found.get() > 10);

      cluster.stop("m0");
      pass(2_500);
      int before = found.get();
      cluster.start("m0");

      await().atMost(SOON).untilAsserted(() -> assertThat(found).hasValueGreaterThan(before));
      finished.set(true);
      finding.join();
    }
  }

  private static boolean find(MongoCollection<Document> collection, AtomicInteger found) {
    try {
      collection.find(Filters.eq(5)).first();
      found.incrementAndGet();
      return true;
    } catch (MongoException failure) {
      // Expected during the outage: the caller tries again after a pause.
      return false;
    }
  }

  private static void pass(long millis) {
    try {
      RealTime.pass(Duration.ofMillis(millis));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
