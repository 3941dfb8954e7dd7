package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.client.model.changestream.OperationType;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.Source;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.testbed.Testbed;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
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
import java.util.stream.IntStream;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonMinKey;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.bson.types.Decimal128;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Compares the merged streams of real shards with the acknowledged writes and with a mongos'
 * stream.
 *
 * <p>Before a release, run it with {@code -Donehop.it.stream.seconds=60}.
 */
@Tag("full")
class ShardedChangeStreamIT {
  private static final Duration STRESS =
      Duration.ofSeconds(Integer.getInteger("onehop.it.stream.seconds", 15));
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int KEYS = 120;
  private static final int CHUNK = 20;

  private static Testbed testbed;
  private static MongoClient client;

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final AtomicInteger moves = new AtomicInteger();
  private volatile boolean stopped;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(NearShards.topology("sharded-change-streams", 37, 3)).start();
    client = MongoClients.create(testbed.url());
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

  /** The events that a stream has emitted. */
  private static final class ReceivedEvents {
    private final StreamCheck check;
    private final List<String> tokens = Collections.synchronizedList(new ArrayList<>());

    ReceivedEvents(Order order) {
      this.check = new StreamCheck(order == Order.TOTAL);
    }

    void add(StreamEvent event) {
      if (event instanceof StreamEvent.Change change) {
        check.add(change);
        tokens.add(change.token());
      }
    }

    void assertCorrect(VersionedWrites writes) {
      assertThat(check.wrong()).isEmpty();
      assertThat(check.differences(writes.written())).isEmpty();
    }
  }

  private static MongoCollection<Document> sharded(String name) {
    return sharded(name, Numbered.splitAt(20, 40, 60, 80, 100));
  }

  /** Shards a collection for {@link VersionedWrites} with {@link #KEYS} slots. */
  private static void shardedForWrites(String name) {
    sharded(
        name,
        IntStream.range(1, KEYS / CHUNK)
            .mapToObj(chunk -> VersionedWrites.bound(chunk * CHUNK))
            .toList());
  }

  private static MongoCollection<Document> sharded(String name, List<BsonDocument> splitPoints) {
    testbed.shardCollection("streams." + name, Numbered.KEY, splitPoints);
    return client
        .getDatabase("streams")
        .getCollection(name)
        .withWriteConcern(WriteConcern.MAJORITY);
  }

  private static ShardedChangeStream.Builder stream(String name) {
    return ShardedChangeStream.builder(testbed.url()).collection("streams", name);
  }

  private static BsonTimestamp now() {
    return client
        .getDatabase("admin")
        .runCommand(new BsonDocument("ping", new BsonInt32(1)), BsonDocument.class)
        .getTimestamp("operationTime");
  }

  /**
   * The config server's cluster time is ahead of the shards' times. Even so, a stream must emit all
   * writes that follow after its start was returned.
   */
  @Test
  void emitsWritesAfterReturnedStart() {
    sharded("begin");
    Document ping = new Document("ping", 1);
    try (MongoClient config = MongoClients.create(direct(testbed.configServers()));
        ClientSession session = config.startSession()) {
      MongoDatabase admin = config.getDatabase("admin");
      BsonTimestamp now =
          admin.runCommand(session, ping, BsonDocument.class).getTimestamp("operationTime");
      session.advanceClusterTime(
          new BsonDocument("clusterTime", new BsonTimestamp(now.getTime() + 10, 1))
              .append(
                  "signature",
                  new BsonDocument("hash", new BsonBinary(new byte[20]))
                      .append("keyId", new BsonInt64(0))));
      admin.runCommand(session, ping);
    }
    Checkpoint start = Mono.from(stream("begin").build().start()).block(TIMEOUT);
    // Writes to the shard directly, because a mongos would send the config server's later time to
    // the shard.
    try (MongoClient shard = MongoClients.create(direct(testbed.shardHosts().get("one")))) {
      shard.getDatabase("streams").getCollection("begin").insertOne(new Document("_id", 1));
    }
    assertThat(
            Flux.from(stream("begin").build().events(start))
                .ofType(StreamEvent.Change.class)
                .blockFirst(TIMEOUT))
        .isNotNull();
  }

  private static String direct(String replicaSet) {
    return "mongodb://" + replicaSet.replaceFirst(".*/", "") + "/?directConnection=true";
  }

  @Test
  void migrationsLoseDuplicateAndReorderNothing() throws InterruptedException {
    shardedForWrites("moving");
    BsonTimestamp begin = now();
    ReceivedEvents perKey = new ReceivedEvents(Order.PER_KEY);
    ReceivedEvents total = new ReceivedEvents(Order.TOTAL);
    ReceivedEvents resumed = new ReceivedEvents(Order.PER_KEY);
    List<Disposable> readers =
        List.of(
            read(stream("moving").startAtOperationTime(begin), perKey),
            read(stream("moving").startAtOperationTime(begin).order(Order.TOTAL), total),
            readInPieces(begin, resumed));
    VersionedWrites writes = new VersionedWrites(client, "streams.moving", KEYS, 1);
    Thread mover = new Thread(() -> move("streams.moving"), "mover");
    // Delays the events of shard three. If a range moves from this shard, its events thus arrive
    // after the events of the new owner.
    testbed.setFurther(address("three"), Duration.ofMillis(100));
    try (writes) {
      mover.start();
      RealTime.pass(STRESS);
    } finally {
      stopped = true;
      mover.join();
      testbed.setFurther(address("three"), Duration.ZERO);
    }
    List<String> mongosTokens = readMongos("moving", begin);
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              assertThat(failures).isEmpty();
              for (ReceivedEvents each : List.of(perKey, total, resumed)) {
                assertThat(each.tokens.size()).isGreaterThanOrEqualTo(mongosTokens.size());
              }
            });
    readers.forEach(Disposable::dispose);
    System.err.printf("%d events, %d moves%n", mongosTokens.size(), moves.get());
    assertThat(moves.get()).isGreaterThan(5);
    assertThat(total.tokens).isEqualTo(mongosTokens);
    assertThat(perKey.tokens).containsExactlyInAnyOrderElementsOf(mongosTokens);
    assertThat(resumed.tokens).containsExactlyInAnyOrderElementsOf(mongosTokens);
    for (ReceivedEvents each : List.of(perKey, total, resumed)) {
      each.assertCorrect(writes);
    }
    assertNoOpenCursors("moving");
  }

  @ParameterizedTest
  @EnumSource(Order.class)
  void killedAndFrozenPrimariesLoseNoEvents(Order order) throws InterruptedException {
    String name = "killed" + order.name().toLowerCase(Locale.ROOT);
    underFaults(
        name,
        order,
        () -> {
          testbed.kill(address("two"));
          RealTime.pass(Duration.ofSeconds(2));
          testbed.restart(address("two"));
          testbed.cutConnections(address("one"));
          testbed.setFrozen(address("three"), true);
          RealTime.pass(Duration.ofSeconds(2));
          testbed.setFrozen(address("three"), false);
        });
  }

  /**
   * The driver's server selection ends after 30 seconds (JAVA-4546). A stream must also survive a
   * longer outage.
   */
  @Tag("nightly")
  @Test
  void survivesOutageLongerThanServerSelection() throws InterruptedException {
    underFaults(
        "outage",
        Order.PER_KEY,
        () -> {
          testbed.setBlocked(address("two"), true);
          RealTime.pass(Duration.ofSeconds(40));
          testbed.setBlocked(address("two"), false);
        });
  }

  private interface Faults {
    void run() throws InterruptedException;
  }

  private void underFaults(String name, Order order, Faults faults) throws InterruptedException {
    shardedForWrites(name);
    ReceivedEvents received = new ReceivedEvents(order);
    Disposable reader = read(stream(name).startAtOperationTime(now()).order(order), received);
    VersionedWrites writes = new VersionedWrites(client, "streams." + name, KEYS, 1);
    try (writes) {
      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () -> {
                assertThat(failures).isEmpty();
                assertThat(received.tokens).hasSizeGreaterThan(50);
              });
      faults.run();
      long before = writes.acknowledged();
      await().atMost(TIMEOUT).until(() -> writes.acknowledged() > before + 50);
    }
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              assertThat(failures).isEmpty();
              received.assertCorrect(writes);
            });
    reader.dispose();
    assertNoOpenCursors(name);
  }

  /** The stream reads the whole cluster, and must not show the heartbeats as events. */
  @Test
  void idleShardDelaysEventsOnlyBriefly() throws InterruptedException {
    MongoCollection<Document> collection = sharded("idle");
    for (int chunk = 0; chunk < KEYS / CHUNK; chunk++) {
      testbed.moveRange(
          "streams.idle",
          new BsonDocument("_id", chunk == 0 ? new BsonMinKey() : new BsonInt32(chunk * CHUNK)),
          chunk % 2 == 0 ? "one" : "two");
    }
    Map<Integer, Long> written = new ConcurrentHashMap<>();
    Queue<Long> lags = new ConcurrentLinkedQueue<>();
    Queue<String> tokens = new ConcurrentLinkedQueue<>();
    BsonTimestamp begin = now();
    Disposable reader =
        Flux.from(
                ShardedChangeStream.builder(testbed.url())
                    .cluster()
                    .order(Order.TOTAL)
                    .maxAwaitTime(Duration.ofSeconds(5))
                    .startAtOperationTime(new BsonTimestamp(begin.getValue() + 1))
                    .build()
                    .events())
            .ofType(StreamEvent.Change.class)
            .subscribe(
                change -> {
                  int key = change.document().getDocument("documentKey").getInt32("_id").getValue();
                  lags.add(System.nanoTime() - written.get(key));
                  tokens.add(change.token());
                },
                failures::add);
    long from = System.nanoTime();
    for (int key = 0; key < KEYS; key++) {
      written.put(key, System.nanoTime());
      collection.insertOne(new Document("_id", key));
      RealTime.pass(Duration.ofMillis(15));
    }
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              assertThat(failures).isEmpty();
              assertThat(tokens).hasSize(KEYS);
            });
    Duration elapsed = Duration.ofNanos(System.nanoTime() - from);
    reader.dispose();
    List<Long> sorted = lags.stream().sorted().toList();
    System.err.printf(
        "idle shard: median lag %d us, the longest %d us%n",
        sorted.get(KEYS / 2) / 1_000, sorted.get(KEYS - 1) / 1_000);
    assertThat(List.copyOf(tokens)).isSorted();
    // Without heartbeats, an idle server would wait up to five seconds before it reports its time.
    assertThat(Duration.ofNanos(sorted.get(KEYS / 2))).isLessThan(Duration.ofMillis(500));
    try (MongoClient direct =
        MongoClients.create("mongodb://" + address("three") + "/?directConnection=true")) {
      assertThat(
              direct
                  .getDatabase("local")
                  .getCollection("oplog.rs")
                  .countDocuments(
                      Filters.and(
                          Filters.gt("ts", begin),
                          Filters.eq("op", "n"),
                          Filters.exists("o.onehop"))))
          .isBetween(1L, elapsed.toMillis() / 10 + 1);
    }
  }

  @Test
  void checkpointAndDriverTokenAreInterchangeable() {
    MongoCollection<Document> collection = sharded("places");
    BsonTimestamp begin = now();
    for (int i = 0; i < 60; i++) {
      collection.insertOne(new Document("_id", i * 2).append("n", (long) i));
    }
    List<StreamEvent.Change> first =
        Flux.from(stream("places").startAtOperationTime(begin).order(Order.TOTAL).build().events())
            .ofType(StreamEvent.Change.class)
            .take(25)
            .collectList()
            .block(TIMEOUT);
    Checkpoint checkpoint = first.get(24).checkpoint();
    List<String> driverTokens = new ArrayList<>();
    BsonDocument token = null;
    try (var cursor =
        collection.watch(RawBsonDocument.class).resumeAfter(checkpoint.resumeToken()).cursor()) {
      for (int i = 0; i < 15; i++) {
        ChangeStreamDocument<RawBsonDocument> event = cursor.next();
        token = event.getResumeToken();
        driverTokens.add(token.getString("_data").getValue());
      }
    }
    List<String> rest =
        Flux.from(stream("places").resumeAfter(token).build().events())
            .ofType(StreamEvent.Change.class)
            .take(20)
            .map(StreamEvent.Change::token)
            .collectList()
            .block(TIMEOUT);
    List<String> all = new ArrayList<>();
    first.forEach(change -> all.add(change.token()));
    all.addAll(driverTokens);
    all.addAll(rest);
    assertThat(all).isEqualTo(readMongos("places", begin));
  }

  @Test
  void databaseStreamContinuesAfterDroppedCollection() {
    MongoCollection<Document> other = client.getDatabase("streams2").getCollection("a");
    Queue<OperationType> types = new ConcurrentLinkedQueue<>();
    Disposable reader =
        Flux.from(
                ShardedChangeStream.builder(testbed.url())
                    .database("streams2")
                    .startAtOperationTime(now())
                    .build()
                    .documents(Document.class))
            .subscribe(event -> types.add(event.getOperationType()), failures::add);
    other.insertOne(new Document("_id", 1));
    other.drop();
    other.insertOne(new Document("_id", 2));
    await().atMost(TIMEOUT).until(() -> types.size() == 3);
    assertThat(types)
        .containsExactly(OperationType.INSERT, OperationType.DROP, OperationType.INSERT);
    assertThat(failures).isEmpty();
    reader.dispose();
  }

  @Test
  void collectionStreamEndsWhenCollectionIsDropped() {
    MongoCollection<Document> collection = sharded("dropped");
    List<OperationType> types = Collections.synchronizedList(new ArrayList<>());
    AtomicReference<String> end = new AtomicReference<>();
    Flux.from(stream("dropped").startAtOperationTime(now()).build().documents(Document.class))
        .subscribe(
            event -> types.add(event.getOperationType()),
            failures::add,
            () -> end.set("completed"));
    collection.insertOne(new Document("_id", 1));
    collection.insertOne(new Document("_id", 110));
    testbed.dropCollection("streams.dropped");
    await().atMost(TIMEOUT).until(() -> end.get() != null);
    // Each shard drops its part of the collection, two of them perhaps at the same cluster time.
    assertThat(types)
        .startsWith(OperationType.INSERT, OperationType.INSERT, OperationType.DROP)
        .endsWith(OperationType.INVALIDATE)
        .hasSizeLessThan(7);
    assertThat(types).filteredOn(OperationType.INVALIDATE::equals).hasSize(1);
  }

  @Test
  void looksUpDocumentsOnCurrentOwner() {
    MongoCollection<Document> collection = sharded("lookup");
    BsonTimestamp begin = now();
    collection.insertOne(new Document("_id", 5).append("n", 1L));
    collection.updateOne(Filters.eq(5), Updates.set("n", 2L));
    String owner = testbed.topology().shards().get(0).name();
    for (String shard : List.of("one", "two", "three")) {
      if (!shard.equals(owner)) {
        testbed.moveRange("streams.lookup", new BsonDocument("_id", new BsonMinKey()), shard);
      }
    }
    List<ChangeStreamDocument<Document>> events =
        Flux.from(
                stream("lookup")
                    .startAtOperationTime(begin)
                    .fullDocument(FullDocument.UPDATE_LOOKUP)
                    .build()
                    .documents(Document.class))
            .take(2)
            .collectList()
            .block(TIMEOUT);
    assertThat(events.get(1).getOperationType()).isEqualTo(OperationType.UPDATE);
    assertThat(events.get(1).getFullDocument()).containsEntry("n", 2L);
  }

  @Test
  void appliesPipelineAndReportsItsErrors() {
    MongoCollection<Document> collection = sharded("pipeline");
    BsonTimestamp begin = now();
    for (int i = 0; i < 20; i++) {
      collection.insertOne(new Document("_id", i).append("n", (long) i));
    }
    List<Long> selected =
        Flux.from(
                stream("pipeline")
                    .startAtOperationTime(begin)
                    .batchSize(3)
                    .pipeline(List.of(Aggregates.match(Filters.mod("fullDocument.n", 5, 0))))
                    .build()
                    .documents(Document.class))
            .map(event -> event.getFullDocument().getLong("n"))
            .take(4)
            .collectList()
            .block(TIMEOUT);
    assertThat(selected).containsExactly(0L, 5L, 10L, 15L);
    assertThatThrownBy(
            () ->
                Flux.from(
                        stream("pipeline")
                            .pipeline(List.of(new Document("$group", new Document("_id", 1))))
                            .build()
                            .events())
                    .blockFirst(TIMEOUT))
        .isInstanceOf(MongoCommandException.class);
  }

  @Test
  void reportsTooLargeEventAndContinues() {
    MongoCollection<Document> collection = sharded("large");
    BsonTimestamp begin = now();
    collection.insertOne(new Document("_id", 1).append("n", 1L));
    // The event contains the key twice: unchanged, and in hexadecimal form in the token. So the
    // event is too large, although the document is not.
    String key = "k".repeat(20_000);
    collection.insertOne(new Document("_id", key).append("filler", "x".repeat(16_750_000)));
    collection.insertOne(new Document("_id", 2).append("n", 2L));
    List<StreamEvent> events =
        Flux.from(stream("large").startAtOperationTime(begin).order(Order.TOTAL).build().events())
            .filter(event -> !(event instanceof StreamEvent.Progress))
            .take(3)
            .collectList()
            .block(TIMEOUT);
    assertThat(events.get(0)).isInstanceOf(StreamEvent.Change.class);
    assertThat(events.get(1))
        .isInstanceOfSatisfying(
            StreamEvent.TooLarge.class,
            large ->
                assertThat(large.event().getDocument("documentKey").getString("_id").getValue())
                    .isEqualTo(key));
    assertThat(events.get(2)).isInstanceOf(StreamEvent.Change.class);
  }

  @Tag("nightly")
  @Test
  void mongosSourceReturnsSameEvents() {
    MongoCollection<Document> collection = sharded("mongos");
    BsonTimestamp begin = now();
    for (int i = 0; i < KEYS; i++) {
      collection.insertOne(new Document("_id", i).append("n", (long) i));
    }
    List<String> received =
        Flux.from(
                stream("mongos").startAtOperationTime(begin).source(Source.MONGOS).build().events())
            .ofType(StreamEvent.Change.class)
            .take(KEYS)
            .map(StreamEvent.Change::token)
            .collectList()
            .block(TIMEOUT);
    assertThat(received).isEqualTo(readMongos("mongos", begin));
  }

  @Test
  void readsReplicaSet() {
    MongoClientSettings shard =
        MongoClientSettings.builder()
            .applyConnectionString(
                new ConnectionString("mongodb://" + address("one") + "/?directConnection=true"))
            .build();
    BsonTimestamp begin = now();
    // Uses a database of the cluster. A database that the test creates on the shard alone would be
    // unknown to the cluster.
    MongoCollection<Document> collection = sharded("replicaset");
    collection.insertOne(new Document("_id", 1).append("n", 1L));
    List<RawBsonDocument> events =
        Flux.from(
                ShardedChangeStream.builder(shard)
                    .cluster()
                    .startAtOperationTime(begin)
                    .build()
                    .documents())
            .filter(event -> event.getString("operationType").getValue().equals("insert"))
            .take(1)
            .collectList()
            .block(TIMEOUT);
    assertThat(events).hasSize(1);
  }

  private static String address(String shard) {
    return testbed.shardHosts().get(shard).replaceFirst(".*/", "");
  }

  private Disposable read(ShardedChangeStream.Builder stream, ReceivedEvents into) {
    return Flux.from(stream.build().events()).subscribe(into::add, failures::add);
  }

  /**
   * Reads with short subscriptions, one after another. Each starts at the last checkpoint of the
   * previous one.
   */
  private Disposable readInPieces(BsonTimestamp begin, ReceivedEvents into) {
    AtomicReference<Checkpoint> checkpoint = new AtomicReference<>(Checkpoint.before(begin));
    Random random = new Random(1);
    return Flux.defer(
            () ->
                Flux.from(
                        stream("moving")
                            .startAfter(Checkpoint.parse(checkpoint.get().toDocument()))
                            .build()
                            .events())
                    .take(1 + random.nextInt(400)))
        .doOnNext(event -> checkpoint.set(event.checkpoint()))
        .repeat()
        .subscribe(into::add, failures::add);
  }

  private static List<String> readMongos(String name, BsonTimestamp begin) {
    List<String> tokens = new ArrayList<>();
    BsonTimestamp end = now();
    try (var cursor =
        client
            .getDatabase("streams")
            .getCollection(name)
            .watch(RawBsonDocument.class)
            .startAtOperationTime(begin)
            .maxAwaitTime(100, TimeUnit.MILLISECONDS)
            .cursor()) {
      while (true) {
        ChangeStreamDocument<RawBsonDocument> event = cursor.tryNext();
        if (event != null) {
          tokens.add(event.getResumeToken().getString("_data").getValue());
        } else if (cursor.getResumeToken() != null
            && Checkpoint.ofResumeToken(cursor.getResumeToken()).clusterTime().compareTo(end) > 0) {
          return tokens;
        }
      }
    }
  }

  private void move(String namespace) {
    Random random = new Random(1);
    List<String> shards = List.of("one", "two", "three");
    while (!stopped) {
      int chunk = random.nextInt(KEYS / CHUNK);
      try {
        testbed.moveRange(
            namespace,
            chunk == 0
                ? new BsonDocument("_id", new BsonMinKey())
                : VersionedWrites.bound(chunk * CHUNK),
            shards.get(random.nextInt(shards.size())));
        moves.incrementAndGet();
      } catch (RuntimeException e) {
        failures.add(e);
        return;
      }
    }
  }

  /** The tokens of decimal keys need more than the field {@code _data}. */
  @Test
  void reopensKilledCursorAfterDecimalKey() {
    MongoCollection<Document> collection = sharded("decimals");
    Queue<String> keys = new ConcurrentLinkedQueue<>();
    Disposable reader =
        Flux.from(stream("decimals").startAtOperationTime(now()).build().events())
            .ofType(StreamEvent.Change.class)
            .subscribe(
                change -> keys.add(change.document().getDocument("documentKey").toJson()),
                failures::add);
    List<Object> ids = List.of(Decimal128.parse("1.10"), 5.5, Decimal128.parse("7E2"), 6L);
    for (int i = 0; i < ids.size(); i++) {
      collection.insertOne(new Document("_id", ids.get(i)));
      int expected = i + 1;
      await()
          .atMost(TIMEOUT)
          .untilAsserted(
              () -> {
                assertThat(failures).isEmpty();
                assertThat(keys).hasSize(expected);
              });
      testbed.shardHosts().values().forEach(shard -> killCursors(shard, "decimals"));
    }
    reader.dispose();
    assertThat(keys).doesNotHaveDuplicates();
  }

  private static void killCursors(String replicaSet, String name) {
    try (MongoClient server = MongoClients.create(direct(replicaSet))) {
      for (Document cursor :
          server
              .getDatabase("admin")
              .aggregate(
                  List.of(
                      Document.parse("{$currentOp: {idleCursors: true}}"),
                      Aggregates.match(
                          Filters.and(
                              Filters.eq("ns", "streams." + name),
                              Filters.exists("cursor.cursorId")))))) {
        server
            .getDatabase("streams")
            .runCommand(
                new Document("killCursors", name)
                    .append(
                        "cursors",
                        List.of(cursor.get("cursor", Document.class).getLong("cursorId"))));
      }
    }
  }

  @Test
  void streamCancelledWhileOpeningLeavesNoCursor() throws InterruptedException {
    sharded("cancelled");
    BsonTimestamp begin = now();
    for (int millis = 0; millis < 500; millis += 20) {
      Disposable reader =
          Flux.from(stream("cancelled").startAtOperationTime(begin).build().events()).subscribe();
      RealTime.pass(Duration.ofMillis(millis));
      reader.dispose();
    }
    assertNoOpenCursors("cancelled");
  }

  private static void assertNoOpenCursors(String name) {
    for (String shard : List.of("one", "two", "three")) {
      try (MongoClient direct =
          MongoClients.create("mongodb://" + address(shard) + "/?directConnection=true")) {
        await()
            .atMost(TIMEOUT)
            .untilAsserted(
                () ->
                    assertThat(
                            direct
                                .getDatabase("admin")
                                .aggregate(
                                    List.of(
                                        Document.parse("{$currentOp: {idleCursors: true}}"),
                                        Aggregates.match(
                                            Filters.and(
                                                Filters.eq("ns", "streams." + name),
                                                Filters.exists("cursor.tailable")))))
                                .into(new ArrayList<>()))
                        .isEmpty());
      }
    }
  }
}
