package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.changestream.FullDocument;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.observation.StreamMeters;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.search.MeterNotFoundException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMinKey;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/**
 * Streams of real servers return each transaction over several shards as a whole. Also checks the
 * meters of the streams.
 */
@Tag("full")
@ShardedCluster
class GroupedTransactionsIT {
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final int KEYS = 120;
  private static final int TRANSACTIONS = Integer.getInteger("onehop.it.transactions", 20);
  private static final int LARGEST = 12;
  private static final int SHUTDOWN_IN_PROGRESS = 91;

  private static SharedCluster cluster;
  private static Testbed testbed;
  private static MongoClient client;

  private record Part(String shard, BsonDocument lsid, long number) {}

  @BeforeAll
  static void start(SharedCluster shared) {
    cluster = shared;
    testbed = cluster.testbed();
    client = MongoClients.create(testbed.url());
  }

  @AfterAll
  static void stop() {
    if (client != null) {
      client.close();
    }
  }

  @ParameterizedTest
  @EnumSource(Order.class)
  void groupsEventsOfTransactionByShard(Order order) throws InterruptedException {
    String name = "of" + order.name().toLowerCase(Locale.ROOT);
    testbed.shardCollection(
        cluster.namespace(name), Numbered.KEY, Numbered.splitAt(20, 40, 60, 80, 100));
    MongoCollection<Document> collection =
        client
            .getDatabase(cluster.database())
            .getCollection(name)
            .withWriteConcern(WriteConcern.MAJORITY);
    BsonTimestamp begin =
        client
            .getDatabase("admin")
            .runCommand(new BsonDocument("ping", new BsonInt32(1)), BsonDocument.class)
            .getTimestamp("operationTime");
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    // The batches of the cursors are smaller than the transactions, so a transaction comes in
    // several batches.
    Supplier<ShardedChangeStream.Builder> stream =
        () ->
            ShardedChangeStream.builder(testbed.url())
                .collection(cluster.database(), name)
                .order(order)
                .fullDocument(
                    order == Order.PER_KEY ? FullDocument.UPDATE_LOOKUP : FullDocument.DEFAULT)
                .batchSize(3);
    Map<String, StreamEvent> changesByToken = new ConcurrentHashMap<>();
    Disposable ungrouped =
        Flux.from(stream.get().startAtOperationTime(begin).meterRegistry(registry).build().events())
            .ofType(StreamEvent.Change.class)
            .subscribe(change -> changesByToken.put(change.token(), change));
    List<StreamEvent> received = new ArrayList<>();
    Disposable grouped = readInPieces(stream, Checkpoint.before(begin), received);
    int written = write(collection);
    await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(changesByToken.size()).isEqualTo(written));
    await()
        .atMost(TIMEOUT)
        .untilAsserted(() -> assertThat(changes(received).size()).isGreaterThanOrEqualTo(written));
    await()
        .atMost(TIMEOUT)
        .ignoreException(MeterNotFoundException.class)
        .untilAsserted(() -> assertMeters(registry, written));
    grouped.dispose();
    ungrouped.dispose();

    assertThat(changes(received))
        .extracting(StreamEvent.Change::token)
        .containsExactlyInAnyOrderElementsOf(changesByToken.keySet());
    check(received);
    if (order == Order.PER_KEY) {
      assertThat(changes(received))
          .allSatisfy(change -> assertThat(change.document()).containsKey("fullDocument"));
    }
  }

  /**
   * All shards' streams may have passed a time while a part of an older transaction is still
   * missing.
   */
  @Test
  void emitsLatePartOfTransaction() throws InterruptedException {
    testbed.shardCollection(cluster.namespace("late"), Numbered.KEY, Numbered.splitAt(40, 50));
    testbed.moveRange(
        cluster.namespace("late"),
        new BsonDocument("_id", new BsonMinKey()),
        cluster.shards().get(0));
    testbed.moveRange(
        cluster.namespace("late"),
        new BsonDocument("_id", new BsonInt32(50)),
        cluster.shards().get(1));
    MongoCollection<Document> collection =
        client
            .getDatabase(cluster.database())
            .getCollection("late")
            .withWriteConcern(WriteConcern.MAJORITY);
    Queue<StreamEvent> received = new ConcurrentLinkedQueue<>();
    Disposable reader =
        Flux.from(
                ShardedChangeStream.builder(testbed.url())
                    .collection(cluster.database(), "late")
                    .order(Order.TOTAL)
                    .groupTransactions(true)
                    .build()
                    .events())
            .filter(event -> !(event instanceof StreamEvent.Progress))
            .subscribe(received::add);
    AtomicInteger value = new AtomicInteger(9);
    await()
        .atMost(TIMEOUT)
        .until(
            () -> {
              set(collection, null, 51, value.incrementAndGet());
              return !received.isEmpty();
            });
    String set = testbed.shardHosts().get(cluster.shards().get(1));
    Thread committing = new Thread(() -> writeBoth(collection));
    try (MongoClient two = PrimaryShards.direct(set)) {
      failCommits(two, "alwaysOn");
      committing.start();
      await().atMost(TIMEOUT).until(() -> transactions(received).size() == 1);
      set(collection, null, 1, 2);
      set(collection, null, 52, 2);
      await().atMost(TIMEOUT).until(() -> key(last(received)) == 52);
      failCommits(two, "off");
      await().atMost(TIMEOUT).until(() -> transactions(received).size() == 2);
    }
    committing.join();
    reader.dispose();
    List<StreamEvent.Transaction> parts = transactions(received);
    assertThat(parts)
        .extracting(StreamEvent.Transaction::shard)
        .containsExactlyElementsOf(cluster.shards().subList(0, 2));
    assertThat(parts.get(0).lsid()).isEqualTo(parts.get(1).lsid());
    assertThat(changes(List.copyOf(received))).extracting(StreamEvent.Change::token).isSorted();
    assertThat(last(received)).isSameAs(parts.get(1));
  }

  private static void writeBoth(MongoCollection<Document> collection) {
    try (ClientSession session = client.startSession()) {
      session.startTransaction();
      set(collection, session, 1, 1);
      set(collection, session, 51, 1);
      session.commitTransaction();
    }
  }

  private static void failCommits(MongoClient shard, String mode) {
    var unused =
        shard
            .getDatabase("admin")
            .runCommand(
                new Document("configureFailPoint", "failCommand")
                    .append("mode", mode)
                    .append(
                        "data",
                        new Document("failCommands", List.of("commitTransaction"))
                            .append("errorCode", SHUTDOWN_IN_PROGRESS)
                            .append("failInternalCommands", true)));
  }

  private static List<StreamEvent.Transaction> transactions(Queue<StreamEvent> received) {
    return received.stream()
        .filter(event -> event instanceof StreamEvent.Transaction)
        .map(event -> (StreamEvent.Transaction) event)
        .toList();
  }

  private static StreamEvent last(Queue<StreamEvent> received) {
    List<StreamEvent> all = List.copyOf(received);
    return all.get(all.size() - 1);
  }

  private static int key(StreamEvent event) {
    return event instanceof StreamEvent.Change change
        ? change.document().getDocument("documentKey").getNumber("_id").intValue()
        : -1;
  }

  /**
   * Reads with many short subscriptions, one after another. Each begins at the last position of the
   * previous one.
   */
  private static Disposable readInPieces(
      Supplier<ShardedChangeStream.Builder> stream, Checkpoint begin, List<StreamEvent> received) {
    Random random = new Random(1);
    AtomicReference<Checkpoint> checkpoint = new AtomicReference<>(begin);
    return Flux.defer(
            () ->
                Flux.from(
                        stream
                            .get()
                            .startAfter(Checkpoint.parse(checkpoint.get().toDocument()))
                            .groupTransactions(true)
                            .build()
                            .events())
                    .take(1 + random.nextInt(100)))
        .doOnNext(
            event -> {
              checkpoint.set(event.checkpoint());
              synchronized (received) {
                received.add(event);
              }
            })
        .repeat()
        .subscribe();
  }

  private static List<StreamEvent.Change> changes(List<StreamEvent> received) {
    List<StreamEvent.Change> changes = new ArrayList<>();
    synchronized (received) {
      for (StreamEvent event : received) {
        if (event instanceof StreamEvent.Transaction transaction) {
          changes.addAll(transaction.changes());
        } else if (event instanceof StreamEvent.Change change) {
          changes.add(change);
        }
      }
    }
    return changes;
  }

  /**
   * Writes transactions, and writes to other keys between them.
   *
   * @return the number of written documents
   */
  private static int write(MongoCollection<Document> collection) throws InterruptedException {
    int[] plain = new int[1];
    boolean[] stopped = new boolean[1];
    Thread writer =
        new Thread(
            () -> {
              for (int n = 0; !stopped[0]; n++) {
                int key = n % KEYS;
                if (key % 2 == 1) {
                  set(collection, null, key, n);
                  plain[0]++;
                }
              }
            });
    writer.start();
    Random random = new Random(2);
    int inTransactions = 0;
    try (ClientSession session = client.startSession()) {
      for (int t = 1; t <= TRANSACTIONS; t++) {
        int value = t;
        int size = 1 + random.nextInt(LARGEST);
        int first = random.nextInt(KEYS / 2);
        session.withTransaction(
            () -> {
              for (int i = 0; i < size; i++) {
                // The keys are far apart, so they are on different shards.
                set(collection, session, (first * 2 + i * 22) % KEYS, value);
              }
              return size;
            });
        inTransactions += size;
      }
    } finally {
      stopped[0] = true;
      writer.join();
    }
    return inTransactions + plain[0];
  }

  private static void set(
      MongoCollection<Document> collection, ClientSession session, int key, int value) {
    UpdateOptions upsert = new UpdateOptions().upsert(true);
    if (session == null) {
      collection.updateOne(Filters.eq(key), Updates.set("n", value), upsert);
    } else {
      collection.updateOne(
          session,
          Filters.eq(key),
          Updates.combine(Updates.set("n", value), Updates.inc("w", 1)),
          upsert);
    }
  }

  private static void check(List<StreamEvent> received) {
    Map<Part, Integer> parts = new HashMap<>();
    Map<Long, Integer> shards = new HashMap<>();
    for (StreamEvent event : received) {
      if (event instanceof StreamEvent.Change change) {
        assertThat(change.document()).doesNotContainKey("txnNumber");
      } else if (event instanceof StreamEvent.Transaction transaction) {
        assertThat(transaction.last()).isTrue();
        assertThat(transaction.changes())
            .allSatisfy(
                change -> {
                  assertThat(change.document().getDocument("lsid")).isEqualTo(transaction.lsid());
                  assertThat(change.document().getInt64("txnNumber").getValue())
                      .isEqualTo(transaction.txnNumber());
                })
            .extracting(StreamEvent.Change::token)
            .isSorted();
        parts.merge(
            new Part(transaction.shard(), transaction.lsid(), transaction.txnNumber()),
            1,
            Integer::sum);
        shards.merge(transaction.txnNumber(), 1, Integer::sum);
      }
    }
    assertThat(parts.values()).containsOnly(1);
    assertThat(shards).hasSize(TRANSACTIONS);
    assertThat(shards.values()).as("shards of a transaction").contains(3);
  }

  private static void assertMeters(SimpleMeterRegistry registry, int written) {
    MeterNames.assertListed(registry, 8);
    double events =
        registry.get(StreamMeters.EVENTS.meterName()).counters().stream()
            .mapToDouble(Counter::count)
            .sum();
    assertThat(events).isEqualTo(written);
    // The lag has the tag wallTime, because a mongod of 6.0 reports the wall time of a commit.
    assertThat(
            registry
                .get(StreamMeters.LAG_RECEIVED.meterName())
                .tag("commit", "wallTime")
                .timer()
                .mean(TimeUnit.MILLISECONDS))
        .isLessThan((double) TIMEOUT.toMillis());
    // The oplog of the shared cluster may be older than this run, so the expected value is read
    // from the shards.
    double longest =
        testbed.shardHosts().values().stream()
            .mapToDouble(GroupedTransactionsIT::oplogSeconds)
            .max()
            .orElseThrow();
    assertThat(registry.get(StreamMeters.OPLOG_LEFT.meterName()).timeGauges())
        .hasSize(3)
        .allSatisfy(gauge -> assertThat(gauge.value(TimeUnit.SECONDS)).isBetween(0.0, longest));
    assertThat(registry.get(StreamMeters.LAG_RELEASED.meterName()).timer().count()).isPositive();
  }

  /** The age of the oldest entry in a shard's oplog, in seconds. */
  private static double oplogSeconds(String set) {
    try (MongoClient shard = PrimaryShards.direct(set)) {
      BsonDocument oldest =
          shard.getDatabase("local").getCollection("oplog.rs", BsonDocument.class).find().first();
      return System.currentTimeMillis() / 1_000.0 - oldest.getTimestamp("ts").getTime();
    }
  }
}
