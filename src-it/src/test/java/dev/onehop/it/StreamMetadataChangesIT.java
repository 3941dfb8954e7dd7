package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoNamespace;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.testbed.Testbed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
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
 * Collections that get another primary shard, name or shard key while a change stream reads them.
 */
@Tag("full")
class StreamMetadataChangesIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final int SLOTS = 60;

  private static Testbed testbed;
  private static MongoClient client;
  private static MongoClient config;

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final Queue<String> types = new ConcurrentLinkedQueue<>();
  private final AtomicBoolean completed = new AtomicBoolean();

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(NearShards.topology("stream-metadata-changes", 41, 3)).start();
    client = MongoClients.create(testbed.url());
    config = MongoClients.create(configUrl() + "?directConnection=true");
  }

  private static String configUrl() {
    return "mongodb://" + testbed.configServers().replaceFirst(".*/", "") + "/";
  }

  @AfterAll
  static void stop() {
    if (client != null) {
      client.close();
    }
    if (config != null) {
      config.close();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  /** The cluster's time. The time of an idle mongos is behind the config servers' time. */
  private static BsonTimestamp now() {
    BsonTimestamp router = now(client);
    BsonTimestamp configServers = now(config);
    return router.compareTo(configServers) < 0 ? configServers : router;
  }

  private static BsonTimestamp now(MongoClient of) {
    return of.getDatabase("admin")
        .runCommand(BsonDocument.parse("{ping: 1}"), BsonDocument.class)
        .getTimestamp("operationTime");
  }

  private static void movePrimary(String database, String shard) {
    PrimaryShards.move(testbed, database, shard);
    assertThat(PrimaryShards.of(testbed, database)).isEqualTo(shard);
  }

  private static void onConfig(Document command) {
    var unused = config.getDatabase("admin").runCommand(command);
  }

  private Disposable read(ShardedChangeStream.Builder stream, StreamCheck check) {
    return Flux.from(stream.build().events())
        .ofType(StreamEvent.Change.class)
        .subscribe(
            change -> {
              String type = change.document().getString("operationType").getValue();
              types.add(type);
              if (change.document().containsKey("documentKey")) {
                check.add(change);
              }
            },
            failures::add,
            () -> completed.set(true));
  }

  private void awaitMoreWrites(VersionedWrites writes) {
    long before = writes.acknowledged();
    await().atMost(TIMEOUT).until(() -> writes.acknowledged() > before + 200);
  }

  private void awaitAllEvents(VersionedWrites writes, StreamCheck check) {
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              assertThat(failures).isEmpty();
              assertThat(check.wrong()).isEmpty();
              assertThat(check.differences(writes.written())).isEmpty();
            });
  }

  /**
   * Copying the documents causes no events. When the old primary shard drops its copy, the stream
   * has a drop event, as a mongos' stream has.
   */
  @ParameterizedTest
  @EnumSource(Order.class)
  void databaseStreamContinuesAfterMovePrimary(Order order) throws InterruptedException {
    String database = "home" + order.name().toLowerCase(Locale.ROOT);
    StreamCheck check = new StreamCheck(order == Order.TOTAL);
    Disposable reader =
        read(
            ShardedChangeStream.builder(testbed.url())
                .database(database)
                .order(order)
                .startAtOperationTime(now()),
            check);
    VersionedWrites writes = writeDuringMovePrimary(database);
    awaitAllEvents(writes, check);
    assertThat(types).containsOnly("insert", "update", "replace", "delete", "drop");
    assertThat(types).filteredOn("drop"::equals).hasSize(3);
    reader.dispose();
  }

  /**
   * The drop on the old primary shard ends the collection's stream, so the test then subscribes
   * again.
   */
  @ParameterizedTest
  @EnumSource(Order.class)
  void collectionStreamResumesAfterMovePrimary(Order order) throws InterruptedException {
    String database = "moved" + order.name().toLowerCase(Locale.ROOT);
    StreamCheck check = new StreamCheck(order == Order.TOTAL);
    AtomicReference<Checkpoint> checkpoint = new AtomicReference<>(Checkpoint.before(now()));
    Disposable reader =
        Flux.defer(
                () ->
                    Flux.from(
                        ShardedChangeStream.builder(testbed.url())
                            .collection(database, "c")
                            .order(order)
                            .startAfter(checkpoint.get())
                            .build()
                            .events()))
            .doOnNext(event -> checkpoint.set(event.checkpoint()))
            .ofType(StreamEvent.Change.class)
            .repeat()
            .subscribe(
                change -> {
                  types.add(change.document().getString("operationType").getValue());
                  if (change.document().containsKey("documentKey")) {
                    check.add(change);
                  }
                },
                failures::add);
    VersionedWrites writes = writeDuringMovePrimary(database);
    awaitAllEvents(writes, check);
    assertThat(types).filteredOn("invalidate"::equals).hasSize(3);
    reader.dispose();
  }

  /** Changes the primary shard three times. The last change is back to the first primary shard. */
  private VersionedWrites writeDuringMovePrimary(String database) throws InterruptedException {
    VersionedWrites writes = new VersionedWrites(client, database + ".c", SLOTS, 1);
    try (writes) {
      awaitMoreWrites(writes);
      String first = PrimaryShards.of(testbed, database);
      List<String> primaries = new ArrayList<>(List.of("one", "two", "three"));
      primaries.remove(first);
      primaries.add(first);
      for (String shard : primaries) {
        movePrimary(database, shard);
        awaitMoreWrites(writes);
      }
    }
    return writes;
  }

  @ParameterizedTest
  @EnumSource(Order.class)
  void streamContinuesDuringResharding(Order order) throws InterruptedException {
    String name = "resharded" + order.name().toLowerCase(Locale.ROOT);
    String namespace = "keys." + name;
    testbed.shardCollection(
        namespace,
        Numbered.KEY,
        IntStream.range(1, 6).mapToObj(chunk -> VersionedWrites.bound(chunk * 10)).toList());
    StreamCheck check = new StreamCheck(order == Order.TOTAL);
    Disposable reader =
        read(
            ShardedChangeStream.builder(testbed.url())
                .collection("keys", name)
                .order(order)
                .startAtOperationTime(now()),
            check);
    VersionedWrites writes = new VersionedWrites(client, namespace, SLOTS, 1);
    try (writes) {
      awaitMoreWrites(writes);
      Resharding.reshard(testbed, namespace, new Document("_id", "hashed"), 6);
      awaitMoreWrites(writes);
    }
    awaitAllEvents(writes, check);
    assertThat(types).containsOnly("insert", "update", "replace", "delete");
    reader.dispose();
  }

  /**
   * A stream starts before a shard was removed. The removed shard's events can no longer be read,
   * so the stream must fail instead of skipping them.
   */
  @Test
  void failsWhenStartIsBeforeShardRemoval() {
    BsonTimestamp before = now();
    try (RealMongod guest = RealMongod.startShard("guest")) {
      BsonDocument majority = BsonDocument.parse("{w: 'majority'}");
      onConfig(
          new Document("_configsvrAddShard", "guest/localhost:" + guest.port())
              .append("name", "guest")
              .append("writeConcern", majority));
      await()
          .atMost(TIMEOUT)
          .until(
              () ->
                  config
                      .getDatabase("admin")
                      .runCommand(
                          new Document("_configsvrRemoveShard", "guest")
                              .append("writeConcern", majority))
                      .getString("state")
                      .equals("completed"));
    }
    // The config servers return the time, because an idle mongos may not know the removal yet. The
    // time may be that of the removal itself, so the stream starts one increment later.
    BsonTimestamp latest = now(config);
    BsonTimestamp removed = new BsonTimestamp(latest.getTime(), latest.getInc() + 1);
    for (String url : List.of(configUrl(), testbed.url())) {
      ShardedChangeStream.Builder stream =
          ShardedChangeStream.builder(url).collection("keys", "none");
      assertThatThrownBy(
              () ->
                  Flux.from(stream.startAtOperationTime(before).build().events())
                      .blockLast(TIMEOUT))
          .as(url)
          .isInstanceOfSatisfying(
              HistoryLostException.class, lost -> assertThat(lost.shard()).isEqualTo("guest"));
      StreamEvent first =
          Flux.from(stream.startAtOperationTime(removed).build().events()).blockFirst(TIMEOUT);
      assertThat(first).isInstanceOf(StreamEvent.Progress.class);
    }
  }

  /** The stream of the old name ends. The stream of the database continues with the new name. */
  @Test
  void renameEndsOnlyCollectionStream() {
    testbed.shardCollection(
        "names.old",
        Numbered.KEY,
        IntStream.range(1, 6).mapToObj(chunk -> VersionedWrites.bound(chunk * 10)).toList());
    MongoCollection<Document> old =
        client.getDatabase("names").getCollection("old").withWriteConcern(WriteConcern.MAJORITY);
    BsonTimestamp begin = now();
    StreamCheck ofCollection = new StreamCheck(false);
    StreamCheck ofDatabase = new StreamCheck(false);
    var unused =
        read(
            ShardedChangeStream.builder(testbed.url())
                .collection("names", "old")
                .startAtOperationTime(begin),
            ofCollection);
    Queue<String> inDatabase = new ConcurrentLinkedQueue<>();
    Disposable reader =
        Flux.from(
                ShardedChangeStream.builder(testbed.url())
                    .database("names")
                    .startAtOperationTime(begin)
                    .build()
                    .events())
            .ofType(StreamEvent.Change.class)
            .subscribe(
                change -> {
                  inDatabase.add(change.document().getString("operationType").getValue());
                  if (change.document().containsKey("documentKey")) {
                    ofDatabase.add(change);
                  }
                },
                failures::add);
    int last = (SLOTS - 1) * VersionedWrites.DOCUMENTS_PER_SLOT;
    old.insertOne(new Document("_id", 0).append("n", 1L));
    old.insertOne(new Document("_id", last).append("n", 1L));
    old.renameCollection(new MongoNamespace("names", "new"));
    MongoCollection<Document> renamed =
        client.getDatabase("names").getCollection("new").withWriteConcern(WriteConcern.MAJORITY);
    for (int key : List.of(0, last)) {
      renamed.updateOne(new Document("_id", key), new Document("$set", new Document("n", 2L)));
    }
    await().atMost(TIMEOUT).until(completed::get);
    assertThat(types)
        .startsWith("insert", "insert", "rename")
        .endsWith("invalidate")
        .doesNotContain("update");
    assertThat(types).filteredOn("invalidate"::equals).hasSize(1);
    await().atMost(TIMEOUT).until(() -> ofDatabase.count() == 4);
    assertThat(ofDatabase.wrong()).isEmpty();
    assertThat(inDatabase)
        .startsWith("insert", "insert", "rename")
        .endsWith("update", "update")
        .doesNotContain("invalidate");
    assertThat(failures).isEmpty();
    reader.dispose();
  }
}
