package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoException;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoCollection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Mixed load over a link that cuts connections at random, for 20 seconds. {@code
 * -Donehop.resets.seconds=600} runs it for ten minutes.
 */
@Tag("nightly")
class PipelinedResetsIT {
  private static final Duration RUN =
      Duration.ofSeconds(Integer.getInteger("onehop.resets.seconds", 20));
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int THREADS = 32;
  private static final int LINK_DELAY_MILLIS = 5;
  private static final int MEAN_MILLIS_BETWEEN_CUTS = 2_000;

  private static RealMongod mongod;

  private final AtomicLong operations = new AtomicLong();
  private final AtomicLong failures = new AtomicLong();
  private final Queue<String> acknowledged = new ConcurrentLinkedQueue<>();
  private final Queue<String> touched = new ConcurrentLinkedQueue<>();
  private final Queue<String> wrong = new ConcurrentLinkedQueue<>();

  @BeforeAll
  static void start() {
    mongod = RealMongod.start();
  }

  @AfterAll
  static void stop() {
    mongod.close();
  }

  @Test
  void resetsNeitherLoseWritesNorMixReplies() throws InterruptedException {
    try (LeakWatch leakWatch = LeakWatch.start();
        CuttingLink link =
            new CuttingLink(mongod.port(), LINK_DELAY_MILLIS, MEAN_MILLIS_BETWEEN_CUTS, 1)) {
      try (PipelinedClient pipelined = new PipelinedClient(RealMongod.url(link.port()))) {
        MongoCollection<Document> collection =
            pipelined.client().getDatabase("it").getCollection("resets");
        long end = System.nanoTime() + RUN.toNanos();
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < THREADS; number++) {
          Random random = new Random(number);
          String prefix = number + "-";
          threads.add(new Thread(() -> load(collection, prefix, random, end), "load-" + number));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
          thread.join();
        }
        link.stopCutting();

        assertThat(wrong).isEmpty();
        assertThat(link.cuts()).isGreaterThan(5);
        assertThat(operations.get()).isGreaterThan(200);
        assertNothingLost(collection);
        System.out.printf(
            "%d operations, %d acknowledged writes, %d failed, %d connections cut, heap %d MiB%n",
            operations.get(),
            acknowledged.size() + touched.size(),
            failures.get(),
            link.cuts(),
            usedHeap() >> 20);
        pipelined.client().close();
        await().atMost(TIMEOUT).untilAsserted(() -> assertThat(pipelined.sharedSockets()).isZero());
      }
      assertThat(leakWatch.leaks()).isEmpty();
    }
  }

  private static long usedHeap() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }

  private void load(MongoCollection<Document> collection, String prefix, Random random, long end) {
    List<String> ownIds = new ArrayList<>();
    for (int n = 0; System.nanoTime() < end; n++) {
      String tag = prefix + n;
      int dice = random.nextInt(100);
      try {
        if (dice < 40 || ownIds.isEmpty()) {
          run(collection.insertOne(new Document("_id", tag).append("tag", tag).append("n", 0)));
          acknowledged.add(tag);
          ownIds.add(tag);
        } else if (dice < 60) {
          String id = ownIds.get(random.nextInt(ownIds.size()));
          run(collection.updateOne(Filters.eq("_id", id), Updates.push("touched", tag)));
          touched.add(tag);
        } else if (dice < 97) {
          String id = ownIds.get(random.nextInt(ownIds.size()));
          expect(id, run(collection.find(Filters.eq("_id", id)).first()));
        } else if (dice < 99) {
          // A cursor of several batches uses a separate socket.
          Flux.from(
                  collection
                      .find(Filters.in("_id", ownIds.subList(0, Math.min(50, ownIds.size()))))
                      .batchSize(10))
              .doOnNext(found -> expect(found.getString("_id"), found))
              .blockLast(TIMEOUT);
        } else {
          // A slow read that may use a shared socket.
          run(
              collection
                  .find(
                      Filters.and(
                          Filters.eq("_id", ownIds.get(0)), Filters.where("sleep(200)||true")))
                  .first());
        }
        operations.incrementAndGet();
      } catch (MongoException e) {
        failures.incrementAndGet();
      }
    }
  }

  private void expect(String id, Document found) {
    if (!id.equals(found.getString("tag"))) {
      wrong.add("asked for " + id + ", got " + found.toJson());
    }
  }

  private void assertNothingLost(MongoCollection<Document> collection) {
    Set<String> stored = new HashSet<>();
    List<String> twice = new ArrayList<>();
    Set<String> touches = new HashSet<>();
    Flux.from(collection.find())
        .doOnNext(
            found -> {
              stored.add(found.getString("_id"));
              // If a write was executed twice, its mark is in this list twice.
              found.getList("touched", String.class, List.of()).stream()
                  .filter(touch -> !touches.add(touch))
                  .forEach(twice::add);
            })
        .blockLast(TIMEOUT);
    assertThat(stored).containsAll(acknowledged);
    assertThat(touches).containsAll(touched);
    assertThat(twice).isEmpty();
  }

  private static <T> T run(Publisher<T> publisher) {
    T result = Mono.from(publisher).block(TIMEOUT);
    if (result == null) {
      throw new AssertionError("nothing came");
    }
    return result;
  }
}
