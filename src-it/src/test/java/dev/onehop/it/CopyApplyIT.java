package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.THROWABLE;
import static org.awaitility.Awaitility.await;

import com.mongodb.MongoNamespace;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Indexes;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.Updates;
import dev.onehop.copy.internal.apply.Applier;
import dev.onehop.copy.internal.state.Fence;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
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
  private static final int KEYS = 40;
  private static final long SEED = Long.getLong("onehop.it.seed", System.nanoTime());
  private static final Duration PAUSE =
      Duration.ofMillis(Integer.getInteger("onehop.it.apply.pause", 500));

  private static final Duration TIME =
      Duration.ofSeconds(Integer.getInteger("onehop.it.apply.seconds", 2));

  private static TwoClusters clusters;

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  @BeforeAll
  static void start() {
    clusters = TwoClusters.start("apply", 67);
  }

  @AfterAll
  static void stop() {
    if (clusters != null) {
      clusters.close();
    }
  }

  /**
   * The clusters have different numbers of shards and different shard keys; the third collection is
   * not sharded. The first events are older than some of the copied documents, as in a real copy.
   * Ranges move at both ends, and documents change their shard key. One applier is killed, and
   * another one is stopped until after the end of its leases.
   */
  @Test
  void shardedClustersStayEqualDespiteMovesAndKills() throws Exception {
    List<String> collections = List.of("one", "two", "three");
    BsonDocument byPlace = BsonDocument.parse("{k: 1}");
    clusters.source().shardCollection("d.one", byPlace, places(6));
    clusters.source().shardHashedCollection("d.two", BsonDocument.parse("{_id: 'hashed'}"), 6);
    clusters.destination().shardCollection("d.one", byPlace, places(4));
    clusters.destination().shardCollection("d.two", byPlace, places(3));
    try (RandomWrites writes = new RandomWrites(clusters.from(), "d", collections, KEYS, 4);
        RangeMoves atSource = new RangeMoves(clusters.source(), "d.one", places(6), PAUSE)) {
      await().atMost(TIMEOUT).until(() -> writes.done() > 500);
      BsonTimestamp start = now();
      collections.forEach(CopyApplyIT::copy);
      Process killed = process("d", start);
      awaitApplied("d");
      killed.destroyForcibly();
      Process stopped = process("d", start);
      try {
        awaitApplied("d");
        signal(stopped, "STOP");
        try (RangeMoves atDestination =
                new RangeMoves(clusters.destination(), "d.one", places(4), PAUSE);
            Running running = new Running("d", start)) {
          // This applier can write only after the leases of the stopped process have ended.
          awaitApplied("d");
          signal(stopped, "CONT");
          RealTime.pass(TIME);
          writes.close();
          atDestination.close();
          BsonTimestamp end = now();
          assertThat(running.finish()).isGreaterThanOrEqualTo(end);
          stopped.destroyForcibly();
          System.err.printf(
              "%d writes, %d and %d moves, %s%n",
              writes.done(),
              atSource.done(),
              atDestination.done(),
              running.applier.status().block(TIMEOUT));
          assertThat(atDestination.done()).isPositive();
        }
      } finally {
        stopped.destroyForcibly();
      }
      assertThat(writes.failures()).isEmpty();
      assertThat(atSource.done()).isPositive();
    }
    collections.forEach(collection -> assertEqual("d", collection));
  }

  /**
   * The source is a replica set, and the destination is sharded by {@code _id}. One event is too
   * large for a server to send. Some {@code _id}s change to equal values of another type, which the
   * destination's servers treat as changes of the shard key.
   */
  @Test
  void appliesTooLargeEventsAndIdsOfAnotherType(RealMongod one) throws Exception {
    BsonDocument hashed = BsonDocument.parse("{_id: 'hashed'}");
    clusters.destination().shardHashedCollection("t.docs", hashed, 4);
    try (MongoClient source = MongoClients.create(one.url());
        Running running = new Running(one.url(), "t", now(source))) {
      MongoDatabase at = source.getDatabase("t");
      run(at, "{insert: 'docs', documents: [{_id: 0}, {_id: 1}, {_id: 2}, {_id: 3}]}");
      running.finish();
      run(
          at,
          "{update: 'docs', updates: [{q: {_id: 1}, u: {_id: NumberLong(1), a: 1}}]}",
          "{delete: 'docs', deletes: [{q: {_id: 2}, limit: 1}]}",
          "{insert: 'docs', documents: [{_id: 2.0}]}",
          "{update: 'docs', updates: [{q: {_id: 3}, u: {_id: NumberLong(3)}}]}",
          "{delete: 'docs', deletes: [{q: {_id: 3}, limit: 1}]}");
      running.finish();
      // With its small cache, the server could refuse the large document.
      run(
          source.getDatabase("admin"),
          "{setParameter: 1, wiredTigerEngineRuntimeConfig: 'cache_size=1G'}");
      // The event contains the key itself. Its token contains the key in hexadecimal form, which
      // is twice as long.
      String key = "k".repeat(20_000);
      at.getCollection("large")
          .insertOne(new Document("_id", key).append("filler", "x".repeat(16_740_000)));
      running.finish();
      for (String name : List.of("docs", "large")) {
        assertEqual(documents(at, name), documents(clusters.to().getDatabase("t"), name));
      }
    }
  }

  /**
   * The applier reads a document from the source, and the document has a unique value. At the
   * destination, another document still has this value, and loses it only after a change of
   * metadata. The cases differ in the other document: it waits for a value itself, has the value in
   * a second index, or is removed. They also differ in the kind of the index; in one case it is the
   * index of the shard key.
   */
  @Test
  void uniqueValuesMoveAfterMetadataChange() throws Exception {
    String turning = "{_id: %d, u: 1, v: [%2$d, 'and %2$d'], some: 1}";
    for (MongoClient each : List.of(clusters.from(), clusters.to())) {
      MongoDatabase at = each.getDatabase("u");
      run(
          at,
          "{createIndexes: 'turn', indexes: [{key: {u: 1, v: 1}, name: 'i', unique: true,"
              + " partialFilterExpression: {some: {$exists: true}}}]}",
          "{createIndexes: 'crossed', indexes: [{key: {u: 1}, name: 'i', unique: true},"
              + " {key: {v: -1}, name: 'j', unique: true}]}",
          "{createIndexes: 'removed', indexes: [{key: {list: 1}, name: 'i', unique: true}]}",
          "{createIndexes: 'collated', indexes: [{key: {name: 1}, name: 'i', unique: true,"
              + " collation: {locale: 'en', strength: 2}}]}",
          "{insert: 'turn', documents: [{_id: 'beside', u: 1, v: [7]}]}",
          "{insert: 'crossed', documents: [{_id: 0, u: 0, v: 0, gone: 1}, {_id: 1, u: 1, v: 1},"
              + " {_id: 2, u: 2, v: 2}]}",
          "{insert: 'removed', documents: [{_id: 0, list: [{n: 0}], gone: 1},"
              + " {_id: 1, list: [{n: 1}]}]}",
          "{insert: 'collated', documents: [{_id: 0, name: 'n0', gone: 1}, {_id: 1, name: 'n1'}]}");
      for (int n = 0; n < 20; n++) {
        at.getCollection("turn").insertOne(Document.parse(turning.formatted(n, n)));
      }
      at.getCollection("turn").updateOne(Filters.eq(0), Updates.set("gone", 1));
      run(each.getDatabase("admin"), "{shardCollection: 'u.shardkey', key: {k: 1}, unique: true}");
      run(
          at,
          "{insert: 'shardkey', documents: [{_id: 0, k: 0, gone: 1}, {_id: 1, k: 1},"
              + " {_id: 2, k: 2}]}");
    }
    MongoDatabase at = clusters.from().getDatabase("u");
    BsonTimestamp start = now();
    List<String> names = List.of("turn", "crossed", "removed", "collated", "shardkey");
    for (String name : names) {
      // Up to its horizon, the applier reads a document from the source if an event removes a
      // field.
      Document first = at.getCollection(name).find(Filters.exists("gone")).first();
      at.getCollection(name).updateOne(first, Updates.unset("gone"));
    }
    at.getCollection("turn").createIndex(Indexes.ascending("barrier"));
    for (int n = 0; n < 40; n++) {
      // The documents get values that no document has, and then each gets the old value of the
      // next document.
      at.getCollection("turn")
          .replaceOne(
              Filters.eq(n % 20),
              Document.parse(turning.formatted(n % 20, n < 20 ? 100 + n : (n + 1) % 20)));
    }
    run(
        at,
        "{update: 'crossed', updates: [{q: {_id: 0}, u: {u: 10, v: 10}},"
            + " {q: {_id: 1}, u: {u: 11, v: 11}}, {q: {_id: 2}, u: {u: 12, v: 12}},"
            + " {q: {_id: 0}, u: {u: 1, v: 0}}, {q: {_id: 1}, u: {u: 3, v: 2}},"
            + " {q: {_id: 2}, u: {u: 2, v: 1}}]}",
        "{delete: 'removed', deletes: [{q: {_id: 1}, limit: 1}]}",
        "{update: 'removed', updates: [{q: {_id: 0}, u: {list: [{n: 1}]}}]}",
        "{update: 'collated', updates: [{q: {_id: 1}, u: {name: 'other'}},"
            + " {q: {_id: 0}, u: {name: 'N1'}}]}",
        "{delete: 'shardkey', deletes: [{q: {_id: 0, k: 0}, limit: 1},"
            + " {q: {_id: 1, k: 1}, limit: 1}, {q: {_id: 2, k: 2}, limit: 1}]}",
        "{insert: 'shardkey', documents: [{_id: 0, k: 1}, {_id: 1, k: 2}, {_id: 2, k: 0}]}");
    try (Running running = new Running("u", start)) {
      assertThat(running.finish()).isGreaterThan(start);
    }
    names.forEach(name -> assertEqual("u", name));
  }

  /**
   * The destination has a document that the source has never had, with a unique value of a copied
   * document. It keeps this value, so the copy ends with an error.
   */
  @Test
  void copyFailsOnConflictingDestinationDocument() throws Exception {
    MongoDatabase there = clusters.to().getDatabase("own");
    run(
        there,
        "{createIndexes: 'docs', indexes: [{key: {u: 1}, name: 'u', unique: true}]}",
        "{insert: 'docs', documents: [{_id: 'own', u: 7}]}");
    BsonTimestamp start = now();
    run(clusters.from().getDatabase("own"), "{insert: 'docs', documents: [{_id: 'new', u: 7}]}");
    try (Running unused = new Running("own", start)) {
      await().atMost(TIMEOUT).until(() -> !failures.isEmpty());
    }
    assertThat(failures)
        .singleElement(THROWABLE)
        .hasMessageContaining("the destination's document {\"_id\": \"own\"}")
        .hasMessageContaining("dup key: { u: 7 }");
    assertThat(documents(there, "docs").values()).containsExactly("{\"_id\": \"own\", \"u\": 7}");
  }

  /**
   * While unique values move at random, one applier is killed, and the metadata change all the
   * time.
   */
  @Test
  @Tag("nightly")
  void uniqueValuesMoveAtRandom() throws Exception {
    for (MongoClient each : List.of(clusters.from(), clusters.to())) {
      MongoDatabase at = each.getDatabase("r");
      run(
          at,
          "{createIndexes: 'docs', indexes: [{key: {u: 1}, name: 'u', unique: true},"
              + " {key: {v: 1}, name: 'v', unique: true}]}");
      for (int n = 0; n < 12; n++) {
        run(at, "{insert: 'docs', documents: [{_id: %d, u: %1$d, v: %1$d, gone: 1}]}".formatted(n));
      }
    }
    MongoCollection<Document> docs = clusters.from().getDatabase("r").getCollection("docs");
    BsonTimestamp start = now();
    Random random = new Random(SEED);
    moveUniqueValues(docs, random);
    Process killed = process("r", start);
    try {
      awaitApplied("r");
      moveUniqueValues(docs, random);
    } finally {
      killed.destroyForcibly();
    }
    moveUniqueValues(docs, random);
    try (Running running = new Running("r", start)) {
      moveUniqueValues(docs, random);
      assertThat(running.finish()).isGreaterThan(start);
    }
    assertEqual("r", "docs");
  }

  private static void moveUniqueValues(MongoCollection<Document> docs, Random random) {
    for (int n = 0; n < 60; n++) {
      String field = random.nextBoolean() ? "u" : "v";
      int one = random.nextInt(12);
      int other = (one + 1 + random.nextInt(11)) % 12;
      Object ofOne = docs.findOneAndUpdate(Filters.eq(one), Updates.set(field, -1)).get(field);
      Object ofOther =
          docs.findOneAndUpdate(Filters.eq(other), Updates.set(field, ofOne)).get(field);
      docs.updateOne(
          Filters.eq(one), Updates.combine(Updates.set(field, ofOther), Updates.unset("gone")));
      docs.updateOne(Filters.eq(other), Updates.set("gone", n));
      if (n % 10 == 0) {
        docs.createIndex(Indexes.ascending("barrier"));
      } else if (n % 10 == 5) {
        docs.dropIndex(Indexes.ascending("barrier"));
        docs.insertOne(docs.findOneAndDelete(Filters.eq(11)));
      }
    }
  }

  /** Late writes of a lane's old owner fail, whether they go to one shard or to both. */
  @Test
  void fencedWriterCannotWrite() {
    clusters
        .destination()
        .shardCollection(
            "f.docs",
            BsonDocument.parse("{_id: 1}"),
            List.of(new BsonDocument("_id", new BsonInt32(5))));
    try (var client =
        com.mongodb.reactivestreams.client.MongoClients.create(clusters.destination().url())) {
      Fence.Lane before = lane(client, 1);
      assertThat(insert(before, 1, 6).getInt32("n").getValue()).isEqualTo(2);
      assertThat(insert(before, 1, 7).getArray("writeErrors")).hasSize(1);
      Fence.Lane after = lane(client, 2);
      for (int[] ids : new int[][] {{2, 8}, {2}, {8}}) {
        assertThatThrownBy(() -> insert(before, ids))
            .isInstanceOf(CopyException.class)
            .hasMessageContaining("another process has taken the job over");
      }
      assertThatThrownBy(() -> lane(client, 1)).isInstanceOf(CopyException.class);
      assertThat(insert(after, 3, 9).getInt32("n").getValue()).isEqualTo(2);
      assertThat(documents(clusters.to().getDatabase("f"), "docs")).hasSize(5);
    }
  }

  private static Fence.Lane lane(com.mongodb.reactivestreams.client.MongoClient client, long term) {
    return new Fence(client, client.getDatabase("onehop_fence"), "fenced", Mono.empty())
        .raise(0, term)
        .block(TIMEOUT);
  }

  private static BsonDocument insert(Fence.Lane lane, int... ids) {
    List<String> documents = IntStream.of(ids).mapToObj("{_id: %d}"::formatted).toList();
    return lane.write(
            "f",
            BsonDocument.parse(
                "{insert: 'docs', documents: %s, ordered: false}".formatted(documents)))
        .block(TIMEOUT);
  }

  /** An application or an operator changes metadata while documents are written. */
  @Test
  void appliesMetadataChangesOnceAndIgnoresMovePrimaryDrops() throws Exception {
    MongoDatabase at = clusters.from().getDatabase("m");
    MongoDatabase there = clusters.to().getDatabase("m");
    for (String name : List.of("home", "again", "old")) {
      at.getCollection(name).insertOne(new Document("_id", "copied"));
      there.getCollection(name).insertOne(new Document("_id", "copied"));
    }
    // This document would stay at the destination if the drop were not applied.
    there.getCollection("again").insertOne(new Document("_id", "stale"));
    try (Running running = new Running("m", now())) {
      run(
          at,
          "{create: 'options', collation: {locale: 'de'}, validator: {n: {$gte: 0}}}",
          "{createIndexes: 'options', indexes: [{key: {n: 1}, name: 'n'},"
              + " {key: {u: 1}, name: 'u', unique: true}, {key: {gone: 1}, name: 'gone'}]}",
          "{insert: 'options', documents: [{_id: 1, n: 1}]}",
          "{dropIndexes: 'options', index: 'gone'}",
          "{collMod: 'options', validator: {n: {$gte: 1}}}",
          // The collection has a collation, but this index has the simple collation. Servers list
          // such an index without a collation, and the copy must not add one.
          "{createIndexes: 'options',"
              + " indexes: [{key: {s: 1}, name: 's', collation: {locale: 'simple'}}]}",
          "{collMod: 'options', index: {name: 'n', hidden: true, expireAfterSeconds: 9}}",
          "{create: 'view', viewOn: 'capped', pipeline: [], collation: {locale: 'de'}}",
          "{collMod: 'view', viewOn: 'options', pipeline: []}",
          "{create: 'capped', capped: true, size: 4096}",
          "{insert: 'capped', documents: [{_id: 1}, {_id: 2}]}",
          "{update: 'capped', updates: [{q: {_id: 1}, u: {$set: {n: 1}}}]}",
          "{delete: 'capped', deletes: [{q: {_id: 1}, limit: 1}]}",
          "{insert: 'capped', documents: [{_id: 3}, {_id: 1}]}");
      // The database moves to each other shard, and then back to its first primary shard.
      List<String> primaryShards = new ArrayList<>(clusters.source().shardHosts().keySet());
      String first = PrimaryShards.of(clusters.source(), "m");
      primaryShards.remove(first);
      primaryShards.add(first);
      for (String primaryShard : primaryShards) {
        PrimaryShards.move(clusters.source(), "m", primaryShard);
        at.getCollection("home").insertOne(new Document("_id", primaryShard));
      }
      run(at, "{drop: 'again'}", "{insert: 'again', documents: [{_id: 'anew'}]}");
      at.getCollection("old").renameCollection(new MongoNamespace("m", "renamed"));
      run(
          at,
          "{insert: 'renamed', documents: [{_id: 'later'}]}",
          "{insert: 'old', documents: [{_id: 'another'}]}");
      clusters.source().shardCollection("m.sharded", BsonDocument.parse("{k: 1}"), places(3));
      at.getCollection("sharded")
          .insertMany(
              IntStream.range(0, 60).mapToObj(n -> new Document("_id", n).append("k", n)).toList());
      at.getCollection("sharded").renameCollection(new MongoNamespace("m", "spread"));
      Resharding.reshard(clusters.source(), "m.spread", new Document("_id", "hashed"), 3);
      for (int n = 0; n < 60; n++) {
        at.getCollection("spread").updateOne(Filters.eq(n), Updates.set("b", n));
      }
      BsonTimestamp end = now();
      assertThat(running.finish()).isGreaterThanOrEqualTo(end);
    }
    assertThat(names(there)).isEqualTo(names(at));
    names(at).forEach(name -> assertEqual("m", name));
    assertThat(CopyIT.inNaturalOrder(there.getCollection("capped")))
        .isEqualTo(CopyIT.inNaturalOrder(at.getCollection("capped")));
    assertThat(options(there, "options"))
        .contains("\"validator\": {\"n\": {\"$gte\": 1}}", "\"locale\": \"de\"");
    assertThat(options(there, "view")).contains("\"viewOn\": \"options\"");
    // A copy creates unique indexes at its end.
    assertThat(there.getCollection("options").listIndexes().map(index -> index.getString("name")))
        .containsExactlyInAnyOrder("_id_", "n", "s");
    for (Document index : there.getCollection("options").listIndexes()) {
      assertThat(index.containsKey("collation")).isEqualTo(!index.getString("name").equals("s"));
      assertThat(index.containsKey("hidden")).isEqualTo(index.getString("name").equals("n"));
    }
    MongoDatabase config = clusters.to().getDatabase("config");
    assertThat(config.getCollection("collections").find(Filters.eq("m.spread")).first())
        .isNotNull();
  }

  private static String options(MongoDatabase of, String collection) {
    return of.runCommand(
            BsonDocument.parse("{listCollections: 1, filter: {name: '%s'}}".formatted(collection)))
        .toJson();
  }

  private static Set<String> names(MongoDatabase of) {
    return of.listCollectionNames().into(new TreeSet<>());
  }

  private static void run(MongoDatabase at, String... commands) {
    for (String command : commands) {
      assertThat(at.runCommand(BsonDocument.parse(command))).doesNotContainKey("writeErrors");
    }
  }

  /** Waits until an insert of now is applied. */
  private static void awaitApplied(String database) {
    Document mark = new Document("_id", UUID.randomUUID().toString());
    clusters.from().getDatabase(database).getCollection("marks").insertOne(mark);
    MongoCollection<Document> there = clusters.to().getDatabase(database).getCollection("marks");
    await().atMost(TIMEOUT).until(() -> there.countDocuments(mark) == 1);
  }

  private static List<BsonDocument> places(int chunks) {
    return IntStream.range(1, chunks)
        .mapToObj(n -> new BsonDocument("k", new BsonInt32(n * RandomWrites.SHARD_KEYS / chunks)))
        .toList();
  }

  /** Starts an applier in another process. */
  private static Process process(String database, BsonTimestamp start) throws IOException {
    return CopyApplyMain.start(
        clusters.source().url(), clusters.destination().url(), database, start);
  }

  private static void signal(Process process, String name) throws Exception {
    assertThat(
            new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor())
        .isZero();
  }

  /** An applier in this process. */
  private final class Running implements AutoCloseable {
    private final com.mongodb.reactivestreams.client.MongoClient source;
    private final com.mongodb.reactivestreams.client.MongoClient destination;
    private final Applier applier;
    private final Disposable run;

    Running(String database, BsonTimestamp start) {
      this(clusters.source().url(), database, start);
    }

    Running(String from, String database, BsonTimestamp start) {
      source = com.mongodb.reactivestreams.client.MongoClients.create(from);
      destination =
          com.mongodb.reactivestreams.client.MongoClients.create(clusters.destination().url());
      applier = CopyApplyMain.applier(from, source, destination, database, start);
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

    @Override
    public void close() {
      run.dispose();
      // The applier releases its channels in the background, with these clients.
      applier.ended().block(TIMEOUT);
      source.close();
      destination.close();
    }
  }

  /** Copies a collection of the database {@code d} that changes during the copy. */
  private static void copy(String name) {
    MongoCollection<RawBsonDocument> into = collection(clusters.to(), name);
    for (RawBsonDocument document : collection(clusters.from(), name).find().batchSize(2)) {
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

  private static void assertEqual(String database, String name) {
    assertEqual(
        documents(clusters.from().getDatabase(database), name),
        documents(clusters.to().getDatabase(database), name));
  }

  private static void assertEqual(Map<String, String> expected, Map<String, String> found) {
    assertThat(found).isNotEmpty().containsExactlyInAnyOrderEntriesOf(expected);
  }

  private static BsonTimestamp now() {
    return now(clusters.from());
  }

  private static BsonTimestamp now(MongoClient of) {
    return of.getDatabase("admin")
        .runCommand(BsonDocument.parse("{ping: 1}"), BsonDocument.class)
        .getTimestamp("operationTime");
  }
}
