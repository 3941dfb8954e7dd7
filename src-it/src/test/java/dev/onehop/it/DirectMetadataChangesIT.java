package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoNamespace;
import com.mongodb.client.MongoClients;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.Updates;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Over the stand-in router, databases and collections are dropped, created again, renamed and
 * refined. At the same time, clients use them in direct mode, and get no wrong result.
 */
@ShardedCluster
@Tag("full")
class DirectMetadataChangesIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int KEYS = 10_000;
  private static final int THREADS = 8;
  private static final int ROUNDS = 5;

  private static SharedCluster cluster;
  private static Testbed testbed;
  private static MongoClient client;
  private static com.mongodb.client.MongoClient router;

  @BeforeAll
  static void start(SharedCluster shared) {
    cluster = shared;
    testbed = cluster.testbed();
    client = OneHop.builder(testbed.url()).routing(RoutingMode.DIRECT).client(MongoClient.class);
    router = MongoClients.create(testbed.url());
  }

  @AfterAll
  static void stop() {
    if (client != null) {
      client.close();
      router.close();
    }
  }

  @Test
  void handlesRecreatedDatabase() throws InterruptedException {
    String database = cluster.database("phoenix");
    changeUnderLoad(database, "c", () -> router.getDatabase(database).drop());
  }

  @Test
  void handlesRecreatedCollection() throws InterruptedException {
    changeUnderLoad(
        cluster.database(),
        "again",
        () -> router.getDatabase(cluster.database()).getCollection("again").drop());
  }

  /**
   * A change of the collection: start and end of the drop, and the time at which the collection was
   * sharded again.
   */
  private record Change(long start, long end, long settled) {}

  /** The start and the end of an acknowledged write. */
  private record Written(long start, long end) {}

  /** The start, the end and the error of a failed operation. */
  private record Failed(long start, long end, String message) {}

  /**
   * Inserts and reads while the collection is dropped and created again. Documents that were
   * acknowledged before a drop are not read after it. Documents that were written after the last
   * drop exist. Errors occur only during a change.
   */
  private static void changeUnderLoad(String database, String name, Runnable drop)
      throws InterruptedException {
    MongoCollection<Document> collection = client.getDatabase(database).getCollection(name);
    shard(database + "." + name);
    List<Change> changes = new CopyOnWriteArrayList<>();
    Map<Integer, Written> written = new ConcurrentHashMap<>();
    Queue<String> wrong = new ConcurrentLinkedQueue<>();
    Queue<Failed> errors = new ConcurrentLinkedQueue<>();
    LongAdder operations = new LongAdder();
    AtomicInteger next = new AtomicInteger();
    boolean[] stopping = {false};
    // The start of the current change, which is not in the list of changes yet; 0 if there is none.
    long[] changeStart = {0};
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      Random random = new Random(i);
      threads.add(
          new Thread(
              () -> {
                while (!stopping[0]) {
                  long start = System.nanoTime();
                  try {
                    int last = next.get();
                    if (last == 0 || (last < KEYS - THREADS && random.nextInt(3) == 0)) {
                      // Each key is used once, and the keys are spread over the shards.
                      int key = (int) ((long) next.getAndIncrement() * 7_919 % KEYS);
                      run(collection.insertOne(new Document("_id", key)));
                      written.put(key, new Written(start, System.nanoTime()));
                    } else {
                      int key = (int) ((long) random.nextInt(last) * 7_919 % KEYS);
                      Written known = written.get(key);
                      boolean found = run(collection.find(Filters.eq(key)).first()) != null;
                      if (known != null) {
                        check(key, known, found, start, changes, changeStart, wrong);
                      }
                    }
                    operations.increment();
                  } catch (RuntimeException e) {
                    errors.add(
                        new Failed(start, System.nanoTime(), String.valueOf(e.getMessage())));
                  }
                }
              }));
    }
    threads.forEach(Thread::start);
    for (int round = 0; round < ROUNDS; round++) {
      RealTime.pass(Duration.ofMillis(400));
      long start = System.nanoTime();
      changeStart[0] = start;
      drop.run();
      long end = System.nanoTime();
      shard(database + "." + name);
      changes.add(new Change(start, end, System.nanoTime()));
      changeStart[0] = 0;
    }
    RealTime.pass(Duration.ofMillis(400));
    stopping[0] = true;
    for (Thread thread : threads) {
      thread.join();
    }
    System.out.println(
        "METADATA: %d operations, %d inserts, %d drops of %s.%s, %d errors meanwhile: %s"
            .formatted(
                operations.sum(),
                written.size(),
                changes.size(),
                database,
                name,
                errors.size(),
                errors.stream().map(Failed::message).distinct().limit(5).toList()));

    assertThat(wrong).isEmpty();
    assertThat(operations.sum()).isGreaterThan(200);
    assertThat(errors)
        .as("errors while nothing changed")
        .allMatch(
            failed ->
                changes.stream()
                    .anyMatch(
                        change ->
                            failed.end() > change.start() && failed.start() < change.settled()));
    // Documents that were written after the last drop exist, and those from before it do not. A
    // document that was written during the drop may exist.
    Change last = changes.get(changes.size() - 1);
    List<Integer> stored =
        Flux.from(collection.find()).map(d -> d.getInteger("_id")).collectList().block(TIMEOUT);
    assertThat(stored).doesNotHaveDuplicates();
    written.forEach(
        (key, times) -> {
          if (times.start() > last.end()) {
            assertThat(stored).contains(key);
          } else if (times.end() < last.start()) {
            assertThat(stored).doesNotContain(key);
          }
        });
  }

  private static void check(
      int key,
      Written known,
      boolean found,
      long readStart,
      List<Change> changes,
      long[] changeStart,
      Queue<String> wrong) {
    long readEnd = System.nanoTime();
    if (found) {
      if (changes.stream()
          .anyMatch(change -> known.end() < change.start() && change.end() < readStart)) {
        wrong.add("a dropped document was read: " + key);
      }
    } else {
      long currentStart = changeStart[0];
      boolean explained =
          (currentStart != 0 && currentStart < readEnd)
              || changes.stream()
                  .anyMatch(change -> change.end() > known.start() && change.start() < readEnd);
      if (!explained) {
        wrong.add("an acknowledged document was not read: " + key);
      }
    }
  }

  @Test
  void handlesRenamedCollection() {
    shard(cluster.namespace("before"));
    MongoCollection<Document> before =
        client.getDatabase(cluster.database()).getCollection("before");
    MongoCollection<Document> after = client.getDatabase(cluster.database()).getCollection("after");
    fill(before);
    assertThat(run(after.find(Filters.eq(1)).first())).isNull();

    router
        .getDatabase(cluster.database())
        .getCollection("before")
        .renameCollection(new MongoNamespace(cluster.database(), "after"));

    for (int key = 0; key < KEYS; key += 1_000) {
      assertThat(run(before.find(Filters.eq(key)).first())).isNull();
      assertThat(run(after.find(Filters.eq(key)).first())).isNotNull();
    }
    assertThat(run(after.countDocuments())).isEqualTo(10);
    assertThat(run(before.countDocuments())).isZero();
    assertThat(run(after.updateOne(Filters.eq(9_000), Updates.set("x", 1))).getModifiedCount())
        .isEqualTo(1);
    // After the rename, the old name is free. The insert creates a new, different collection with
    // the old name.
    run(before.insertOne(new Document("_id", 9_000).append("new", true)));
    assertThat(run(before.countDocuments())).isEqualTo(1);
    assertThat(run(after.find(Filters.eq(9_000)).first())).doesNotContainKey("new");
  }

  @Test
  void handlesRefinedShardKey() {
    shard(cluster.namespace("refined"));
    MongoCollection<Document> collection =
        client.getDatabase(cluster.database()).getCollection("refined");
    fill(collection);
    run(collection.createIndex(Indexes.ascending("_id", "x")));

    refine(cluster.database(), "refined", new Document("_id", 1).append("x", 1));

    for (int key = 0; key < KEYS; key += 1_000) {
      assertThat(run(collection.find(Filters.eq(key)).first())).isNotNull();
      assertThat(
              run(collection.updateOne(Filters.eq(key), Updates.set("seen", true)))
                  .getModifiedCount())
          .isEqualTo(1);
      run(collection.insertOne(new Document("_id", key + 1).append("x", key)));
    }
    assertThat(run(collection.countDocuments())).isEqualTo(20);
    assertThat(testbed.evidence(cluster.namespace("refined")).placement().isRight()).isTrue();
    assertThat(run(collection.deleteMany(Filters.gte("_id", 0))).getDeletedCount()).isEqualTo(20);
  }

  /** Refines the shard key by a command to the database's primary shard, as a mongos does. */
  private static void refine(String database, String collection, Document key) {
    Document entry =
        router.getDatabase("config").getCollection("databases").find(Filters.eq(database)).first();
    try (com.mongodb.client.MongoClient primary =
        PrimaryShards.direct(testbed.shardHosts().get(entry.getString("primary")))) {
      primary
          .getDatabase(database)
          .runCommand(
              new Document("_shardsvrRefineCollectionShardKey", collection)
                  .append("newShardKey", key)
                  .append("databaseVersion", entry.get("version"))
                  .append("writeConcern", new Document("w", "majority")));
    }
  }

  private static void fill(MongoCollection<Document> collection) {
    for (int key = 0; key < KEYS; key += 1_000) {
      run(collection.insertOne(new Document("_id", key).append("x", key)));
    }
  }

  /**
   * Shards the collection. A write after the drop may have created an unsharded collection with
   * this name. Sharding then fails, and the method tries again.
   */
  private static void shard(String namespace) {
    List<BsonDocument> points =
        IntStream.of(KEYS / 3, KEYS / 3 * 2)
            .mapToObj(i -> new BsonDocument("_id", new BsonInt32(i)))
            .toList();
    for (int tries = 1; ; tries++) {
      try {
        testbed.shardCollection(namespace, new BsonDocument("_id", new BsonInt32(1)), points);
        return;
      } catch (TestbedException e) {
        if (tries == 5) {
          throw e;
        }
      }
    }
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
