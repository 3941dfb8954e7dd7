package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertManyOptions;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.testbed.Testbed;
import dev.onehop.wire.RealTime;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/**
 * A subscriber requests nothing while a writer writes as fast as it can. The heap holds only the
 * full buffers, and the stream reads no further from the shards. After that, the subscriber
 * requests all events and gets them.
 *
 * <p>Before a release, run it with {@code -Donehop.it.stall.seconds=600}: a server ends a cursor
 * that is idle for ten minutes.
 */
@Tag("full")
class StalledSubscriberIT {
  private static final Duration STALL =
      Duration.ofSeconds(Integer.getInteger("onehop.it.stall.seconds", 5));
  private static final Duration TIMEOUT = Duration.ofMinutes(5).plus(STALL.multipliedBy(3));

  /** The size of the oplog: enough for all writes while the subscriber requests nothing. */
  private static final double OPLOG_MB = 65_536;

  private static final int SHARDS = 2;
  private static final int DOCUMENT = 10_000;
  private static final int BATCH = 100;
  private static final long BUFFER = 1 << 20;

  /** For each shard, the buffer and two batches; the sum is doubled for all other memory. */
  private static final long MAX_HEAP = 2 * SHARDS * (BUFFER + 2L * BATCH * DOCUMENT);

  private static Testbed testbed;
  private static MongoClient client;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(NearShards.topology("stalled-subscriber", 52, 2)).start();
    client = MongoClients.create(testbed.url());
    testbed
        .shardHosts()
        .values()
        .forEach(
            hosts -> {
              try (MongoClient direct = PrimaryShards.direct(hosts)) {
                direct
                    .getDatabase("admin")
                    .runCommand(new Document("replSetResizeOplog", 1).append("size", OPLOG_MB));
              }
            });
  }

  @AfterAll
  static void stop() {
    if (client != null) {
      client.close();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  @ParameterizedTest
  @EnumSource(Order.class)
  void stopsReadingWhileSubscriberStalls(Order order) throws InterruptedException {
    String name = order.name().toLowerCase(Locale.ROOT);
    testbed.shardHashedCollection(
        "stalled." + name, Document.parse("{_id: 'hashed'}").toBsonDocument(), 2);
    MongoCollection<Document> collection = client.getDatabase("stalled").getCollection(name);
    insert(collection, 0);
    ManualSubscriber subscriber = new ManualSubscriber();
    ShardedChangeStream.builder(testbed.url())
        .collection("stalled", name)
        .order(order)
        .batchSize(BATCH)
        .bufferPerShard(BUFFER)
        .build()
        .events()
        .subscribe(subscriber);
    await().atMost(TIMEOUT).until(() -> cursors(name).size() == SHARDS);
    int written = BATCH;
    long end = System.nanoTime() + STALL.toNanos();
    Map<String, Long> batches = Map.of();
    long heap = 0;
    // Writes until the buffers are full, and then some more.
    while (System.nanoTime() - end < 0
        || (long) (written - 30 * BATCH) * DOCUMENT <= 2 * MAX_HEAP) {
      insert(collection, written);
      written += BATCH;
      if (written == 30 * BATCH) {
        await().atMost(TIMEOUT).until(() -> isIdle(name));
        batches = cursors(name);
        heap = usedHeap();
      }
    }
    long grown = usedHeap() - heap;
    Map<String, Long> after = cursors(name);
    long bytes = (long) (written - 30 * BATCH) * DOCUMENT;
    System.err.printf(
        "%s: %d MB written while nothing was asked for, the heap grew by %d kB; batches %s, then %s%n",
        order, bytes >> 20, grown >> 10, batches, after);
    assertThat(bytes).as("written").isGreaterThan(2 * MAX_HEAP);
    assertThat(grown).isLessThan(MAX_HEAP);
    assertThat(batches).hasSize(SHARDS);
    // Some cursors may be missing, because a server may have ended idle cursors.
    assertThat(after.entrySet()).isSubsetOf(batches.entrySet());

    subscriber.request(Long.MAX_VALUE);
    int all = written;
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              assertThat(subscriber.failure.get()).isNull();
              assertThat(subscriber.count()).isEqualTo(all - BATCH);
            });
    assertThat(subscriber.duplicates).isZero();
    subscriber.cancel();
  }

  private static void insert(MongoCollection<Document> collection, int first) {
    List<Document> documents = new ArrayList<>();
    for (int i = 0; i < BATCH; i++) {
      documents.add(new Document("_id", first + i).append("x", "x".repeat(DOCUMENT)));
    }
    collection.insertMany(documents, new InsertManyOptions().ordered(false));
  }

  private static boolean isIdle(String name) throws InterruptedException {
    Map<String, Long> before = cursors(name);
    RealTime.pass(Duration.ofMillis(500));
    return cursors(name).equals(before);
  }

  /** The number of batches that each shard's cursor has returned. */
  private static Map<String, Long> cursors(String name) {
    Map<String, Long> batches = new TreeMap<>();
    testbed
        .shardHosts()
        .forEach(
            (shard, hosts) -> {
              try (MongoClient direct = PrimaryShards.direct(hosts)) {
                direct
                    .getDatabase("admin")
                    .aggregate(
                        List.of(
                            Document.parse("{$currentOp: {idleCursors: true}}"),
                            Aggregates.match(
                                Filters.and(
                                    Filters.eq("ns", "stalled." + name),
                                    Filters.eq("cursor.tailable", true)))))
                    .forEach(
                        operation ->
                            batches.put(
                                shard,
                                operation
                                    .get("cursor", Document.class)
                                    .get("nBatchesReturned", Number.class)
                                    .longValue()));
              }
            });
    return batches;
  }

  private static long usedHeap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** A subscriber that requests events only when the test calls {@code request}. */
  private static final class ManualSubscriber extends BaseSubscriber<StreamEvent> {
    final AtomicReference<Throwable> failure = new AtomicReference<>();
    volatile int duplicates;
    private final BitSet seen = new BitSet();

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      // Nothing yet.
    }

    @Override
    protected synchronized void hookOnNext(StreamEvent event) {
      if (event instanceof StreamEvent.Change change) {
        int key = change.document().getDocument("documentKey").getInt32("_id").getValue();
        if (seen.get(key)) {
          duplicates = duplicates + 1;
        }
        seen.set(key);
      }
    }

    @Override
    protected void hookOnError(Throwable cause) {
      failure.set(cause);
    }

    synchronized int count() {
      return seen.cardinality();
    }
  }
}
