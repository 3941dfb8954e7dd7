package dev.onehop.it;

import static com.mongodb.client.model.CollationStrength.SECONDARY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoNamespace;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.CreateCollectionOptions;
import com.mongodb.client.model.CreateViewOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.ValidationOptions;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.apply.Applier;
import dev.onehop.copy.internal.apply.ApplyStatus;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Events of a real source are applied to a real destination. At the end, both clusters have the
 * same bytes.
 */
@SuppressWarnings("try") // javac: close() may throw InterruptedException
@SharedReplicaSet
@Tag("full")
class CopyApplyIT {
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final List<String> COLLECTIONS = List.of("one", "two");
  private static final int KEYS = 40;
  private static final long SEED = Long.getLong("onehop.it.seed", System.nanoTime());
  private static final Duration PAUSE =
      Duration.ofMillis(Integer.getInteger("onehop.it.apply.pause", 500));

  private static final Duration TIME =
      Duration.ofSeconds(Integer.getInteger("onehop.it.apply.seconds", 2));

  private static Testbed from;
  private static Testbed to;

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  @BeforeAll
  static void start() {
    from = Testbed.builder(NearShards.topology("apply-from", 67, 3)).start();
    to = Testbed.builder(NearShards.topology("apply-to", 68, 2)).start();
  }

  @AfterAll
  static void stop() {
    if (from != null) {
      from.close();
    }
    if (to != null) {
      to.close();
    }
  }

  /**
   * The first events are older than some of the copied documents, as in a real copy. The applier is
   * closed once and started again.
   */
  @Test
  void randomChangesOfReplicaSetsProduceSameBytes(RealMongod one, RealMongod other)
      throws Exception {
    try (MongoClient source = MongoClients.create(one.url());
        MongoClient destination = MongoClients.create(other.url())) {
      try (RandomWrites writes = new RandomWrites(source, "d", COLLECTIONS, KEYS, 3)) {
        RealTime.pass(Duration.ofMillis(500));
        BsonTimestamp start = now(source);
        for (String collection : COLLECTIONS) {
          copy(source, destination, collection);
        }
        try (Running running = new Running(one.url(), other.url(), "d", start)) {
          RealTime.pass(TIME);
        }
        try (Running running = new Running(one.url(), other.url(), "d", start)) {
          RealTime.pass(TIME);
          writes.close();
          BsonTimestamp end = now(source);
          BsonTimestamp applied = running.finish();
          assertThat(applied).isGreaterThanOrEqualTo(end);
          System.err.printf(
              "%d writes, %d refused, %s%n",
              writes.done(), writes.failures().size(), running.status());
        }
        assertThat(failures).isEmpty();
        for (String collection : COLLECTIONS) {
          assertEqual(
              documents(source.getDatabase("d"), collection),
              documents(destination.getDatabase("d"), collection));
        }
      }
    }
  }

  /**
   * Some documents match a filter only before or only after a change. One event is too large for a
   * server to send.
   */
  @Test
  void appliesFiltersTransformationsAndRenames(RealMongod one, RealMongod other) throws Exception {
    try (MongoClient source = MongoClients.create(one.url());
        MongoClient destination = MongoClients.create(other.url())) {
      MongoDatabase at = source.getDatabase("d");
      MongoDatabase there = destination.getDatabase("x");
      BsonTimestamp start = now(source);
      Mapping mapping =
          new Mapping(
              List.of("d"),
              List.of("d.left"),
              Map.of("d", "x", "d.a", "x.b"),
              Map.of("d.filtered", BsonDocument.parse("{n: {$gte: 5}}")),
              (namespace, document) ->
                  namespace.equals("d.changed")
                      ? document.containsKey("drop")
                          ? null
                          : BsonDocument.parse(document.toJson()).append("seen", new BsonInt32(1))
                      : document);
      try (Running running = new Running(one.url(), other.url(), "mapped", mapping, start)) {
        at.getCollection("left").insertOne(new Document("_id", 1));
        at.getCollection("a").insertOne(new Document("_id", 1));
        MongoCollection<Document> filtered = at.getCollection("filtered");
        filtered.insertMany(
            List.of(new Document("_id", 1).append("n", 9), new Document("_id", 2).append("n", 1)));
        running.finish();
        assertThat(documents(there, "filtered")).hasSize(1);
        filtered.updateOne(Filters.eq(1), Updates.set("n", 2));
        filtered.updateOne(Filters.eq(2), Updates.set("n", 8));
        MongoCollection<Document> changed = at.getCollection("changed");
        changed.insertMany(List.of(new Document("_id", 1), new Document("_id", 2)));
        changed.updateOne(Filters.eq(1), Updates.set("a", 1));
        changed.updateOne(Filters.eq(2), Updates.set("drop", 1));
        // The event contains the key itself. Its token contains the key in hexadecimal form, which
        // is twice as long.
        String key = "k".repeat(20_000);
        at.getCollection("large")
            .insertOne(new Document("_id", key).append("filler", "x".repeat(16_740_000)));
        running.finish();
        assertThat(failures).isEmpty();
        assertThat(documents(there, "filtered").values()).containsExactly("{\"_id\": 2, \"n\": 8}");
        assertThat(documents(there, "changed").values())
            .containsExactly("{\"_id\": 1, \"a\": 1, \"seen\": 1}");
        assertThat(there.getCollection("large").countDocuments(Filters.eq(key))).isEqualTo(1);
        assertThat(names(there)).containsExactlyInAnyOrder("b", "filtered", "changed", "large");
      }
      assertOnlySelectedOperationsAreApplied(one.url(), other.url(), source, destination);
    }
  }

  /**
   * Only inserts and updates are applied. Documents that the source deletes, and collections that
   * it drops, therefore stay at the destination. This includes a document that was updated before
   * its delete. The applier may then look for the document at the source and find none.
   */
  private void assertOnlySelectedOperationsAreApplied(
      String from, String to, MongoClient source, MongoClient destination)
      throws InterruptedException {
    MongoCollection<Document> kept = source.getDatabase("kept").getCollection("docs");
    MongoCollection<Document> dropped = source.getDatabase("kept").getCollection("dropped");
    BsonTimestamp start = now(source);
    kept.insertMany(List.of(new Document("_id", 1), new Document("_id", 2)));
    dropped.insertOne(new Document("_id", 1));
    Set<CopyOperation> some = EnumSet.of(CopyOperation.INSERT, CopyOperation.UPDATE);
    try (Running running = new Running(from, to, "kept", CopyApplyMain.of("kept"), some, start)) {
      running.finish();
      kept.updateOne(Filters.eq(1), Updates.set("n", 1));
      kept.deleteOne(Filters.eq(1));
      kept.updateOne(Filters.eq(2), Updates.set("n", 1));
      dropped.drop();
      running.finish();
    }
    // This applier starts again at the first event, so the destination's documents are newer than
    // the first events that it applies.
    kept.updateOne(Filters.eq(2), Updates.set("n", 2));
    kept.deleteOne(Filters.eq(2));
    try (Running running = new Running(from, to, "kept", CopyApplyMain.of("kept"), some, start)) {
      running.finish();
    }
    assertThat(failures).isEmpty();
    MongoDatabase there = destination.getDatabase("kept");
    assertThat(documents(there, "docs").values())
        .containsExactlyInAnyOrder("{\"_id\": 1, \"n\": 1}", "{\"_id\": 2, \"n\": 2}");
    assertThat(names(there)).containsExactlyInAnyOrder("docs", "dropped");
  }

  /**
   * The applier reads a document from the source, and the document has a unique value. At the
   * destination, another document still has this value, and loses it only after a change of
   * metadata. The cases differ in the other document: it waits for a value itself, has the value in
   * a second index, or is removed.
   */
  @Test
  void uniqueValuesMoveBetweenDocumentsAfterMetadataChange(RealMongod one, RealMongod other)
      throws Exception {
    try (MongoClient source = MongoClients.create(one.url());
        MongoClient destination = MongoClients.create(other.url())) {
      IndexOptions unique = new IndexOptions().unique(true);
      IndexOptions some =
          new IndexOptions().unique(true).partialFilterExpression(Filters.exists("some"));
      IndexOptions collated =
          new IndexOptions()
              .unique(true)
              .collation(Collation.builder().locale("en").collationStrength(SECONDARY).build());
      List<String> names = List.of("turn", "crossed", "removed", "collated");
      for (MongoClient each : List.of(source, destination)) {
        MongoDatabase at = each.getDatabase("u");
        at.getCollection("turn").createIndex(Indexes.ascending("u", "v"), some);
        at.getCollection("crossed").createIndex(Indexes.ascending("u"), unique);
        at.getCollection("crossed").createIndex(Indexes.descending("v"), unique);
        at.getCollection("removed").createIndex(Indexes.ascending("list"), unique);
        at.getCollection("collated").createIndex(Indexes.ascending("name"), collated);
        for (int n = 0; n < 20; n++) {
          at.getCollection("turn").insertOne(Document.parse(turning(n, n)));
        }
        at.getCollection("turn").insertOne(Document.parse("{_id: 'beside', u: 1, v: [7]}"));
        for (int n = 0; n < 3; n++) {
          at.getCollection("crossed").insertOne(Document.parse(crossed(n, n, n)));
          at.getCollection("removed").insertOne(Document.parse(listing(n, n)));
          at.getCollection("collated").insertOne(Document.parse(named(n, "n" + n)));
        }
        for (String name : names) {
          at.getCollection(name).updateOne(Filters.eq(0), Updates.set("gone", 1));
        }
      }
      MongoDatabase at = source.getDatabase("u");
      BsonTimestamp start = now(source);
      for (String name : names) {
        at.getCollection(name).updateOne(Filters.eq(0), Updates.unset("gone"));
      }
      at.getCollection("turn").createIndex(Indexes.ascending("barrier"));
      for (int n = 0; n < 20; n++) {
        replace(at, "turn", turning(n, 100 + n));
      }
      for (int n = 0; n < 20; n++) {
        replace(at, "turn", turning(n, (n + 1) % 20));
      }
      for (int n = 0; n < 3; n++) {
        replace(at, "crossed", crossed(n, 10 + n, 10 + n));
      }
      replace(at, "crossed", crossed(0, 1, 0));
      replace(at, "crossed", crossed(1, 3, 2));
      replace(at, "crossed", crossed(2, 2, 1));
      at.getCollection("removed").deleteOne(Filters.eq(1));
      replace(at, "removed", listing(0, 1));
      replace(at, "collated", named(1, "other"));
      replace(at, "collated", named(0, "N1"));
      try (Running running = new Running(one.url(), other.url(), "u", start)) {
        assertThat(running.finish()).isGreaterThan(start);
      }
      assertThat(failures).isEmpty();
      for (String name : names) {
        assertEqual(documents(at, name), documents(destination.getDatabase("u"), name));
      }
    }
  }

  /**
   * The destination has a document that the source has never had, with a unique value of a copied
   * document. It keeps this value, so the copy ends with an error.
   */
  @Test
  void copyFailsOnConflictingDestinationDocument(RealMongod one, RealMongod other)
      throws Exception {
    try (MongoClient source = MongoClients.create(one.url());
        MongoClient destination = MongoClients.create(other.url())) {
      MongoCollection<Document> there = destination.getDatabase("own").getCollection("docs");
      there.createIndex(Indexes.ascending("u"), new IndexOptions().unique(true));
      there.insertOne(new Document("_id", "own").append("u", 7));
      there.insertOne(new Document("_id", "first").append("u", 6));
      MongoDatabase at = source.getDatabase("own");
      at.getCollection("docs").insertOne(new Document("_id", "first").append("u", 6));
      BsonTimestamp start = now(source);
      at.getCollection("docs").insertOne(new Document("_id", "new").append("u", 7));
      try (Running running = new Running(one.url(), other.url(), "own", start)) {
        await().atMost(TIMEOUT).until(() -> !failures.isEmpty());
      }
      assertThat(failures)
          .singleElement(THROWABLE)
          .hasMessageContaining("the destination's document {\"_id\": \"own\"}")
          .hasMessageContaining("dup key: { u: 7 }");
      assertThat(there.find().map(found -> found.get("_id")))
          .containsExactlyInAnyOrder("own", "first");
      there.deleteOne(Filters.eq("own"));
      failures.clear();
      try (Running running = new Running(one.url(), other.url(), "own", start)) {
        assertThat(running.finish()).isGreaterThan(start);
      }
      assertThat(failures).isEmpty();
      assertEqual(documents(at, "docs"), documents(destination.getDatabase("own"), "docs"));
    }
  }

  /**
   * While unique values move at random, one applier is killed, and the metadata change all the
   * time.
   */
  @Test
  @Tag("nightly")
  void uniqueValuesMoveBetweenDocumentsAtRandom(RealMongod one, RealMongod other) throws Exception {
    try (MongoClient source = MongoClients.create(one.url());
        MongoClient destination = MongoClients.create(other.url())) {
      int count = 12;
      for (MongoClient each : List.of(source, destination)) {
        MongoCollection<Document> docs = each.getDatabase("d").getCollection("docs");
        docs.createIndex(Indexes.ascending("u"), new IndexOptions().unique(true));
        docs.createIndex(Indexes.ascending("v"), new IndexOptions().unique(true));
        for (int n = 0; n < count; n++) {
          docs.insertOne(new Document("_id", n).append("u", n).append("v", n).append("gone", 1));
        }
      }
      MongoCollection<Document> docs = source.getDatabase("d").getCollection("docs");
      BsonTimestamp start = now(source);
      Random random = new Random(SEED);
      moveUniqueValues(docs, random, count);
      Process killed = CopyApplyMain.start(one.url(), other.url(), "d", start);
      try {
        await().atMost(TIMEOUT).until(() -> applied(destination).compareTo(start) > 0);
        moveUniqueValues(docs, random, count);
      } finally {
        killed.destroyForcibly();
      }
      moveUniqueValues(docs, random, count);
      try (Running running = new Running(one.url(), other.url(), "d", start)) {
        moveUniqueValues(docs, random, count);
        assertThat(running.finish()).isGreaterThan(start);
      }
      assertThat(failures).isEmpty();
      assertEqual(
          documents(source.getDatabase("d"), "docs"),
          documents(destination.getDatabase("d"), "docs"));
    }
  }

  private static void moveUniqueValues(MongoCollection<Document> docs, Random random, int count) {
    for (int n = 0; n < 60; n++) {
      String field = random.nextBoolean() ? "u" : "v";
      Document one = Objects.requireNonNull(docs.find(Filters.eq(random.nextInt(count))).first());
      Document other = Objects.requireNonNull(docs.find(Filters.eq(random.nextInt(count))).first());
      if (!one.equals(other)) {
        set(docs, one, field, -1);
        set(docs, other, field, one.get(field));
        set(docs, one, field, other.get(field));
      }
      // Up to its horizon, the applier reads a document from the source if an event removes a
      // field.
      set(docs, other, "gone", n);
      docs.updateOne(Filters.eq(one.get("_id")), Updates.unset("gone"));
      if (n % 10 == 0) {
        docs.createIndex(Indexes.ascending("barrier"));
      } else if (n % 10 == 5) {
        docs.dropIndex(Indexes.ascending("barrier"));
        Document last = Objects.requireNonNull(docs.findOneAndDelete(Filters.eq(count - 1)));
        docs.insertOne(last);
      }
    }
  }

  private static void set(
      MongoCollection<Document> docs, Document document, String field, Object value) {
    docs.updateOne(Filters.eq(document.get("_id")), Updates.set(field, value));
  }

  /** The same case as for unique indexes, with a unique shard key. */
  @Test
  void uniqueShardKeysMoveBetweenDocumentsAfterMetadataChange() throws Exception {
    try (MongoClient source = MongoClients.create(from.url());
        MongoClient destination = MongoClients.create(to.url())) {
      MongoDatabase at = source.getDatabase("k");
      for (MongoClient each : List.of(source, destination)) {
        // Creates the database first. A stand-in router can shard a new collection only in an
        // existing database.
        each.getDatabase("k").createCollection("beside");
        assertThat(
                each.getDatabase("admin")
                    .runCommand(
                        Document.parse("{shardCollection: 'k.docs', key: {k: 1}, unique: true}"))
                    .get("ok"))
            .isEqualTo(1.0);
        for (int n = 0; n < 3; n++) {
          each.getDatabase("k").getCollection("docs").insertOne(placed(n, n).append("gone", 1));
        }
      }
      BsonTimestamp start = now(source);
      MongoCollection<Document> docs = at.getCollection("docs");
      docs.updateOne(placed(0, 0), Updates.unset("gone"));
      docs.createIndex(Indexes.ascending("barrier"));
      for (int n = 0; n < 3; n++) {
        docs.deleteOne(placed(n, n));
      }
      for (int n = 0; n < 3; n++) {
        docs.insertOne(placed(n, (n + 1) % 3));
      }
      try (Running running = new Running(from.url(), to.url(), "k", start)) {
        assertThat(running.finish()).isGreaterThan(start);
      }
      assertThat(failures).isEmpty();
      assertEqual(documents(at, "docs"), documents(destination.getDatabase("k"), "docs"));
    }
  }

  private static Document placed(int id, int place) {
    return new Document("_id", id).append("k", place);
  }

  private static void replace(MongoDatabase at, String collection, String document) {
    Document whole = Document.parse(document);
    assertThat(
            at.getCollection(collection)
                .replaceOne(Filters.eq(whole.get("_id")), whole)
                .getMatchedCount())
        .isEqualTo(1);
  }

  private static String turning(int id, int value) {
    return "{_id: %d, u: 1, v: [%d, 'and %d'], some: 1}".formatted(id, value, value);
  }

  private static String crossed(int id, int one, int other) {
    return "{_id: %d, u: %d, v: %d}".formatted(id, one, other);
  }

  private static String listing(int id, int value) {
    return "{_id: %d, list: [{n: %d}]}".formatted(id, value);
  }

  private static String named(int id, String name) {
    return "{_id: %d, name: '%s'}".formatted(id, name);
  }

  /**
   * The clusters have different numbers of shards and different shard keys. Ranges move at both
   * ends, and documents change their shard key. One applier is killed, and another one is stopped
   * until after the end of its leases.
   */
  @Test
  void shardedClustersStayEqualDespiteMovesAndKills() throws Exception {
    try (MongoClient source = MongoClients.create(from.url());
        MongoClient destination = MongoClients.create(to.url())) {
      BsonDocument byPlace = BsonDocument.parse("{k: 1}");
      from.shardCollection("d.one", byPlace, places(6));
      from.shardHashedCollection("d.two", BsonDocument.parse("{_id: 'hashed'}"), 6);
      to.shardCollection("d.one", byPlace, places(4));
      to.shardCollection("d.two", byPlace, places(3));
      BsonTimestamp end;
      try (RandomWrites writes = new RandomWrites(source, "d", COLLECTIONS, KEYS, 4);
          Moves atSource = new Moves(from, places(6))) {
        RealTime.pass(Duration.ofSeconds(1));
        BsonTimestamp start = now(source);
        for (String collection : COLLECTIONS) {
          copy(source, destination, collection);
        }
        Moves atDestination = new Moves(to, places(4));
        Process killed = CopyApplyMain.start(from.url(), to.url(), "d", start);
        awaitApplied(source, destination);
        killed.destroyForcibly();
        Process stopped = CopyApplyMain.start(from.url(), to.url(), "d", start);
        awaitApplied(source, destination);
        signal(stopped, "STOP");
        try (Running running = new Running(from.url(), to.url(), "d", start)) {
          // This applier can write only after the leases of the stopped process have ended.
          awaitApplied(source, destination);
          signal(stopped, "CONT");
          RealTime.pass(TIME);
          writes.close();
          atDestination.close();
          end = now(source);
          BsonTimestamp applied = running.finish();
          assertThat(applied).isGreaterThanOrEqualTo(end);
          System.err.printf(
              "%d writes, %d and %d moves, %s%n",
              writes.done(), atSource.done.get(), atDestination.done.get(), running.status());
        } finally {
          atDestination.close();
          stopped.destroyForcibly();
        }
        assertThat(writes.failures()).isEmpty();
        assertThat(atSource.done.get()).isPositive();
        assertThat(atDestination.done.get()).isPositive();
      }
      for (String collection : COLLECTIONS) {
        assertEqual(
            documents(source.getDatabase("d"), collection),
            documents(destination.getDatabase("d"), collection));
      }
    }
  }

  /**
   * The destination is sharded by {@code _id}. Its servers treat the new type as a change of the
   * shard key.
   */
  @Test
  void idMayChangeToEqualValueOfAnotherType(RealMongod one) throws Exception {
    try (MongoClient source = MongoClients.create(one.url());
        MongoClient destination = MongoClients.create(to.url())) {
      to.shardHashedCollection("t.docs", BsonDocument.parse("{_id: 'hashed'}"), 4);
      MongoCollection<Document> docs = source.getDatabase("t").getCollection("docs");
      BsonTimestamp start = now(source);
      try (Running running = new Running(one.url(), to.url(), "t", start)) {
        docs.insertMany(IntStream.range(0, 8).mapToObj(n -> new Document("_id", n)).toList());
        running.finish();
        docs.replaceOne(Filters.eq(1), new Document("_id", 1L).append("a", 1));
        docs.deleteOne(Filters.eq(2));
        docs.insertOne(new Document("_id", 2.0));
        docs.replaceOne(Filters.eq(3), new Document("_id", 3L));
        docs.deleteOne(Filters.eq(3));
        running.finish();
      }
      assertThat(failures).isEmpty();
      assertEqual(
          documents(source.getDatabase("t"), "docs"),
          documents(destination.getDatabase("t"), "docs"));
    }
  }

  /** Late writes of a lane's old owner fail, whether they go to one shard or to both. */
  @Test
  void fencedWriterCannotWrite() {
    try (var old = reactive(to.url());
        var later = reactive(to.url());
        MongoClient destination = MongoClients.create(to.url())) {
      to.shardCollection(
          "f.docs",
          BsonDocument.parse("{_id: 1}"),
          List.of(new BsonDocument("_id", new BsonInt32(5))));
      Fence.Lane before = lane(old, "shut_out", 1);
      assertThat(insert(before, 1, 6).getInt32("n").getValue()).isEqualTo(2);
      assertThat(insert(before, 1, 7).getArray("writeErrors")).hasSize(1);
      Fence.Lane after = lane(later, "shut_out", 2);
      for (int[] ids : new int[][] {{2, 8}, {2}, {8}}) {
        assertThatThrownBy(() -> insert(before, ids))
            .isInstanceOf(CopyException.class)
            .hasMessageContaining("another process has taken the job over");
      }
      assertThatThrownBy(() -> lane(old, "shut_out", 1)).isInstanceOf(CopyException.class);
      assertThat(insert(after, 3, 9).getInt32("n").getValue()).isEqualTo(2);
      assertThat(documents(destination.getDatabase("f"), "docs")).hasSize(5);
    }
  }

  /**
   * A draining shard gets no document of the fence. In this test, a shard is draining when the term
   * of the fence rises, and accepts documents later.
   */
  @Test
  void fencedWriterCannotWriteToLaterShard() throws InterruptedException {
    try (var old = reactive(to.url());
        var later = reactive(to.url());
        MongoClient destination = MongoClients.create(to.url())) {
      to.shardCollection(
          "f.docs",
          BsonDocument.parse("{_id: 1}"),
          List.of(new BsonDocument("_id", new BsonInt32(5))));
      MongoCollection<Document> shards = destination.getDatabase("config").getCollection("shards");
      List<String> names = shards.distinct("_id", String.class).into(new ArrayList<>());
      destination
          .getDatabase("admin")
          .runCommand(
              new Document("enableSharding", "onehop_late").append("primaryShard", names.get(0)));
      shards.updateOne(Filters.eq(names.get(1)), Updates.set("draining", true));
      Fence.Lane before;
      Fence.Lane after;
      try {
        before = lane(old, "late", 1);
        after = lane(later, "late", 2);
      } finally {
        shards.updateOne(Filters.eq(names.get(1)), Updates.unset("draining"));
      }
      // Lanes look for new shards every five seconds.
      RealTime.pass(Duration.ofSeconds(6));
      assertThat(insert(after, 0).getInt32("n").getValue()).isEqualTo(1);

      assertThatThrownBy(() -> insert(before, 50))
          .isInstanceOf(CopyException.class)
          .hasMessageContaining("another process has taken the job over");
    }
  }

  private static com.mongodb.reactivestreams.client.MongoClient reactive(String url) {
    return com.mongodb.reactivestreams.client.MongoClients.create(url);
  }

  private static Fence.Lane lane(
      com.mongodb.reactivestreams.client.MongoClient client, String name, long term) {
    return new Fence(client, client.getDatabase("onehop_" + name), name, Mono.empty())
        .raise(0, term)
        .block(TIMEOUT);
  }

  private static BsonDocument insert(Fence.Lane lane, int... ids) {
    BsonArray documents = new BsonArray();
    for (int id : ids) {
      documents.add(new BsonDocument("_id", new BsonInt32(id)));
    }
    return lane.write(
            "f",
            new BsonDocument("insert", new BsonString("docs"))
                .append("documents", documents)
                .append("ordered", BsonBoolean.FALSE))
        .block(TIMEOUT);
  }

  /** An application or an operator changes metadata while documents are written. */
  @Test
  void appliesMetadataChangesOnceAndIgnoresMovePrimaryDrops() throws Exception {
    try (MongoClient source = MongoClients.create(from.url());
        MongoClient destination = MongoClients.create(to.url())) {
      MongoDatabase at = source.getDatabase("m");
      MongoDatabase there = destination.getDatabase("m");
      at.getCollection("home").insertOne(new Document("_id", "copied"));
      at.getCollection("again").insertOne(new Document("_id", "copied"));
      at.getCollection("old").insertOne(new Document("_id", "copied"));
      for (String collection : List.of("home", "again", "old")) {
        there.getCollection(collection).insertOne(new Document("_id", "copied"));
      }
      // This document would stay at the destination if the drop were not applied.
      there.getCollection("again").insertOne(new Document("_id", "stale"));
      try (Running running = new Running(from.url(), to.url(), "m", now(source))) {
        at.createCollection(
            "options",
            new CreateCollectionOptions()
                .collation(Collation.builder().locale("de").build())
                .validationOptions(new ValidationOptions().validator(Filters.gte("n", 0))));
        at.getCollection("options")
            .createIndex(Indexes.ascending("n"), new IndexOptions().name("n"));
        at.getCollection("options")
            .createIndex(Indexes.ascending("u"), new IndexOptions().unique(true));
        at.getCollection("options").createIndex(Indexes.ascending("gone"));
        at.getCollection("options").insertOne(new Document("_id", 1).append("n", 1));
        at.getCollection("options").dropIndex("gone_1");
        var unusedModified =
            at.runCommand(BsonDocument.parse("{collMod: 'options', validator: {n: {$gte: 1}}}"));
        // The collection has a collation, but this index has the simple collation. Servers list
        // such an index without a collation, and the copy must not add one.
        at.getCollection("options")
            .createIndex(
                Indexes.ascending("s"),
                new IndexOptions().collation(Collation.builder().locale("simple").build()));
        var unusedHidden =
            at.runCommand(
                BsonDocument.parse(
                    "{collMod: 'options', index: {name: 'n', hidden: true, expireAfterSeconds:"
                        + " 9}}"));
        at.createView(
            "view",
            "capped",
            List.of(),
            new CreateViewOptions().collation(Collation.builder().locale("de").build()));
        var unusedViewed =
            at.runCommand(BsonDocument.parse("{collMod: 'view', viewOn: 'options', pipeline: []}"));
        at.createCollection("capped", new CreateCollectionOptions().capped(true).sizeInBytes(4096));
        at.getCollection("capped")
            .insertMany(List.of(new Document("_id", 1), new Document("_id", 2)));
        at.getCollection("capped").updateOne(Filters.eq(1), Updates.set("n", 1));
        // The database moves to each other shard, and then back to its first primary shard.
        List<String> primaryShards = new ArrayList<>(from.shardHosts().keySet());
        String first = PrimaryShards.of(from, "m");
        primaryShards.remove(first);
        primaryShards.add(first);
        for (String primaryShard : primaryShards) {
          PrimaryShards.move(from, "m", primaryShard);
          at.getCollection("home").insertOne(new Document("_id", primaryShard));
        }
        at.getCollection("again").drop();
        at.getCollection("again").insertOne(new Document("_id", "anew"));
        at.getCollection("old").renameCollection(new MongoNamespace("m", "renamed"));
        at.getCollection("renamed").insertOne(new Document("_id", "later"));
        at.getCollection("old").insertOne(new Document("_id", "another"));
        from.shardCollection("m.sharded", BsonDocument.parse("{k: 1}"), places(3));
        for (int n = 0; n < 60; n++) {
          at.getCollection("sharded").insertOne(new Document("_id", n).append("k", n));
        }
        at.getCollection("sharded").renameCollection(new MongoNamespace("m", "spread"));
        Resharding.reshard(from, "m.spread", new Document("_id", "hashed"), 3);
        for (int n = 0; n < 60; n++) {
          at.getCollection("spread").updateOne(Filters.eq(n), Updates.set("b", n));
        }
        BsonTimestamp end = now(source);
        assertThat(running.finish()).isGreaterThanOrEqualTo(end);
      }
      assertThat(failures).isEmpty();
      assertThat(names(there)).isEqualTo(names(at));
      for (String collection : names(at)) {
        assertEqual(documents(at, collection), documents(there, collection));
      }
      assertThat(there.runCommand(optionsOf("options")).toJson())
          .contains("\"validator\": {\"n\": {\"$gte\": 1}}", "\"locale\": \"de\"");
      // A copy creates unique indexes at its end.
      assertThat(there.getCollection("options").listIndexes().map(index -> index.getString("name")))
          .containsExactlyInAnyOrder("_id_", "n", "s_1");
      for (Document index : there.getCollection("options").listIndexes()) {
        assertThat(index.containsKey("collation"))
            .isEqualTo(!index.getString("name").equals("s_1"));
        assertThat(index.containsKey("hidden")).isEqualTo(index.getString("name").equals("n"));
      }
      assertThat(there.runCommand(optionsOf("view")).toJson()).contains("\"viewOn\": \"options\"");
      try (MongoClient config = PrimaryShards.direct(to.configServers())) {
        assertThat(
                config
                    .getDatabase("config")
                    .getCollection("collections")
                    .find(Filters.eq("m.spread"))
                    .first())
            .isNotNull();
      }
    }
  }

  private static BsonDocument optionsOf(String collection) {
    return BsonDocument.parse("{listCollections: 1, filter: {name: '%s'}}".formatted(collection));
  }

  private static Set<String> names(MongoDatabase of) {
    return of.listCollectionNames().into(new TreeSet<>());
  }

  /** Waits until a process has applied all present events of the source. */
  private static void awaitApplied(MongoClient source, MongoClient destination) {
    BsonTimestamp now = now(source);
    await().atMost(TIMEOUT).until(() -> applied(destination).compareTo(now) > 0);
  }

  private static BsonTimestamp applied(MongoClient destination) {
    List<BsonDocument> leases =
        destination
            .getDatabase("onehop_copy")
            .getCollection("leases", BsonDocument.class)
            .find(Filters.and(Filters.eq("group", "d"), Filters.exists("channel")))
            .into(new ArrayList<>());
    return leases.stream()
        .map(lease -> Checkpoint.parse(lease.getDocument("place")).clusterTime())
        .min(BsonTimestamp::compareTo)
        .orElse(new BsonTimestamp(0));
  }

  private static List<BsonDocument> places(int chunks) {
    return IntStream.range(1, chunks)
        .mapToObj(n -> new BsonDocument("k", new BsonInt32(n * RandomWrites.SHARD_KEYS / chunks)))
        .toList();
  }

  private static void signal(Process process, String name) throws Exception {
    assertThat(
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor())
        .isZero();
  }

  /** Moves ranges all the time. */
  private static final class Moves implements AutoCloseable {
    private final AtomicInteger done = new AtomicInteger();
    private final Thread thread;
    private volatile boolean stopped;

    Moves(Testbed testbed, List<BsonDocument> bounds) {
      thread = new Thread(() -> run(testbed, bounds), "moves");
      thread.start();
    }

    private void run(Testbed testbed, List<BsonDocument> bounds) {
      Random random = new Random(1);
      List<String> shards = List.copyOf(testbed.shardHosts().keySet());
      while (!stopped) {
        try {
          testbed.moveRange(
              "d.one",
              bounds.get(random.nextInt(bounds.size())),
              shards.get(random.nextInt(shards.size())));
          done.incrementAndGet();
          RealTime.pass(PAUSE);
        } catch (TestbedException refused) {
          // The server has refused this migration. The next one may succeed.
        } catch (InterruptedException e) {
          return;
        }
      }
    }

    @Override
    public void close() throws InterruptedException {
      stopped = true;
      thread.join();
    }
  }

  /** An applier in this process. */
  private final class Running implements AutoCloseable {
    private final com.mongodb.reactivestreams.client.MongoClient source;
    private final com.mongodb.reactivestreams.client.MongoClient destination;
    private final Applier applier;
    private final Disposable run;

    Running(String from, String to, String database, BsonTimestamp start) {
      this(from, to, database, CopyApplyMain.of(database), start);
    }

    Running(String from, String to, String job, Mapping mapping, BsonTimestamp start) {
      this(from, to, job, mapping, EnumSet.allOf(CopyOperation.class), start);
    }

    Running(
        String from,
        String to,
        String job,
        Mapping mapping,
        Set<CopyOperation> operations,
        BsonTimestamp start) {
      source = com.mongodb.reactivestreams.client.MongoClients.create(from);
      destination = com.mongodb.reactivestreams.client.MongoClients.create(to);
      applier = CopyApplyMain.applier(from, source, destination, job, mapping, operations, start);
      run = applier.run().subscribe(nothing -> {}, failures::add);
    }

    BsonTimestamp finish() {
      CompletableFuture<BsonTimestamp> finished = applier.finish().toFuture();
      await()
          .atMost(TIMEOUT)
          .failFast(() -> assertThat(failures).isEmpty())
          .until(finished::isDone);
      return finished.join();
    }

    ApplyStatus status() {
      return applier.status().block(TIMEOUT);
    }

    @Override
    public void close() throws InterruptedException {
      run.dispose();
      // Waits, because the applier releases its channels in the background.
      RealTime.pass(Duration.ofSeconds(2));
      source.close();
      destination.close();
    }
  }

  /** Copies a collection that changes during the copy. */
  private static void copy(MongoClient source, MongoClient destination, String collection) {
    MongoCollection<RawBsonDocument> into = collection(destination, collection);
    for (RawBsonDocument document : collection(source, collection).find().batchSize(2)) {
      // A scan may return a document twice, the second time with another k, the shard key. The
      // older version is deleted first.
      into.deleteMany(new BsonDocument("_id", document.get("_id")));
      into.replaceOne(
          new BsonDocument("_id", document.get("_id")).append("k", document.get("k")),
          document,
          new ReplaceOptions().upsert(true));
    }
  }

  private static MongoCollection<RawBsonDocument> collection(MongoClient of, String name) {
    return of.getDatabase("d").getCollection(name, RawBsonDocument.class);
  }

  /** The documents as text, which shows the types and the order of fields. */
  private static Map<String, String> documents(MongoDatabase of, String name) {
    Map<String, String> documents = new TreeMap<>();
    for (RawBsonDocument document : of.getCollection(name, RawBsonDocument.class).find()) {
      String twice = documents.put(document.get("_id").toString(), document.toJson());
      assertThat(twice).as("the same _id in %s of %s: %s", name, of.getName(), document).isNull();
    }
    return documents;
  }

  private static void assertEqual(Map<String, String> expected, Map<String, String> found) {
    Set<String> all = new TreeSet<>(expected.keySet());
    all.addAll(found.keySet());
    List<String> differences = new ArrayList<>();
    for (String id : all) {
      if (!Objects.equals(expected.get(id), found.get(id))) {
        differences.add("%n%s%n  not %s".formatted(expected.get(id), found.get(id)));
      }
    }
    assertThat(differences).isEmpty();
    assertThat(expected).isNotEmpty();
  }

  private static BsonTimestamp now(MongoClient of) {
    return of.getDatabase("admin")
        .runCommand(BsonDocument.parse("{ping: 1}"), BsonDocument.class)
        .getTimestamp("operationTime");
  }
}
