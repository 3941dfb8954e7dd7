package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.CreateCollectionOptions;
import com.mongodb.client.model.CreateViewOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.TimeSeriesOptions;
import com.mongodb.client.model.ValidationOptions;
import dev.onehop.cli.OneHopCommand;
import dev.onehop.copy.verify.ClusterVerification;
import dev.onehop.copy.verify.Difference;
import dev.onehop.copy.verify.MetadataDifference;
import dev.onehop.copy.verify.VerifyReport;
import dev.onehop.testbed.Testbed;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDecimal128;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonJavaScript;
import org.bson.BsonJavaScriptWithScope;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonSymbol;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.types.Decimal128;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Compares two clusters with different numbers of shards, after the test has changed some
 * documents.
 */
@Tag("full")
class VerifyIT {
  private static final Duration STRESS =
      Duration.ofSeconds(Integer.getInteger("onehop.it.verify.seconds", 8));
  private static final List<String> SHARDS = List.of("one", "two", "three");
  private static final BsonDocument BY_ID = new BsonDocument("_id", new BsonInt32(1));

  private static Testbed source;
  private static Testbed destination;
  private static MongoClient from;
  private static MongoClient to;

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;

  @BeforeAll
  static void start() {
    source = Testbed.builder(NearShards.topology("verify-source", 69, 3)).start();
    destination = Testbed.builder(NearShards.topology("verify-destination", 70, 2)).start();
    from = MongoClients.create(source.url());
    to = MongoClients.create(destination.url());
  }

  @AfterAll
  static void stop() {
    for (MongoClient client : new MongoClient[] {from, to}) {
      if (client != null) {
        client.close();
      }
    }
    for (Testbed testbed : new Testbed[] {source, destination}) {
      if (testbed != null) {
        testbed.close();
      }
    }
  }

  private static ClusterVerification.Builder verification(String... included) {
    return ClusterVerification.builder(source.url(), destination.url())
        .include(List.of(included))
        .settle(Duration.ofSeconds(1))
        .details(10_000);
  }

  private static MongoCollection<BsonDocument> at(MongoClient client, String namespace) {
    int dot = namespace.indexOf('.');
    return client
        .getDatabase(namespace.substring(0, dot))
        .getCollection(namespace.substring(dot + 1), BsonDocument.class)
        .withWriteConcern(WriteConcern.MAJORITY);
  }

  private static void insert(String namespace, List<BsonDocument> documents) {
    for (MongoClient client : List.of(from, to)) {
      var unused =
          at(client, namespace).insertMany(documents, new InsertManyOptions().ordered(false));
    }
  }

  /** Different values of every type that an {@code _id} can have. */
  private static List<BsonValue> ids(int count) {
    List<BsonValue> ids =
        new ArrayList<>(
            List.of(
                new BsonMinKey(),
                BsonNull.VALUE,
                BsonBoolean.TRUE,
                BsonBoolean.FALSE,
                new BsonDouble(Double.NaN),
                new BsonDouble(Double.NEGATIVE_INFINITY),
                new BsonDouble(Double.POSITIVE_INFINITY),
                new BsonString(""),
                new BsonDocument()));
    for (int i = 0; ids.size() < count; i++) {
      byte[] bytes = new byte[12];
      new Random(i).nextBytes(bytes);
      ids.add(
          switch (i % 14) {
            case 0 -> new BsonInt32(i);
            case 1 -> new BsonInt64(i);
            case 2 -> new BsonDouble(i + 0.5);
            case 3 -> new BsonDecimal128(Decimal128.parse(i + ".25"));
            case 4 -> new BsonString("text-" + i + "-\u00e9\ud83d\ude00");
            case 5 -> new BsonDocument("a", new BsonInt32(i)).append("b", new BsonString("x"));
            case 6 -> new BsonBinary((byte) (i % 3 == 0 ? 4 : 0), bytes);
            case 7 -> new BsonObjectId(new ObjectId(bytes));
            case 8 -> new BsonDateTime((long) (i - 1_000) * 100_000_000_000L);
            case 9 -> new BsonTimestamp(i + 1, i);
            case 10 -> new BsonJavaScript("f" + i + "()");
            case 11 ->
                new BsonJavaScriptWithScope("g" + i, new BsonDocument("s", new BsonInt32(i)));
            case 12 -> new BsonSymbol("symbol-" + i);
            default ->
                new BsonDocument(
                    "deep", new BsonDocument("list", new BsonArray(List.of(new BsonInt32(i)))));
          });
    }
    return ids;
  }

  private static BsonDocument document(BsonValue id, int n) {
    return new BsonDocument("_id", id)
        .append("k", new BsonInt32(n % 100))
        .append("n", new BsonInt32(n))
        .append("text", new BsonString("x".repeat(50)))
        .append("sub", BsonDocument.parse("{a: 1, b: {c: 2.0, d: 'e'}}"))
        .append("list", BsonDocument.parse("{l: [1, {x: 1, y: 2}, null]}").get("l"));
  }

  private static List<BsonDocument> documents(List<BsonValue> ids) {
    List<BsonDocument> documents = new ArrayList<>();
    for (BsonValue id : ids) {
      documents.add(document(id, documents.size()));
    }
    return documents;
  }

  private static void shard(String namespace, BsonDocument key, BsonDocument... points) {
    source.shardCollection(namespace, key, List.of(points));
    destination.shardCollection(
        namespace, key, List.of(points).subList(0, Math.min(1, points.length)));
  }

  private static BsonDocument id(BsonValue value) {
    return new BsonDocument("_id", value);
  }

  private static String describe(Difference difference) {
    return difference.kind() + " " + difference.namespace() + " " + difference.key().toJson();
  }

  private static Set<String> describe(VerifyReport report) {
    Set<String> described = new TreeSet<>();
    report.details().forEach(difference -> described.add(describe(difference)));
    assertThat(described).as("each once").hasSameSizeAs(report.details());
    assertThat(report.missing() + report.extra() + report.different()).isEqualTo(described.size());
    return described;
  }

  private static void plant(
      Set<String> planted, Difference.Kind kind, String namespace, BsonValue id) {
    planted.add(describe(new Difference(namespace, kind, id(id))));
  }

  /** Plants every kind of difference, at {@code _id}s of every type. */
  @Test
  void findsOnlyPlantedDocumentDifferences() throws InterruptedException {
    shard(
        "faults.all",
        BY_ID,
        id(new BsonInt32(700)),
        id(new BsonString("t")),
        id(new BsonObjectId(new ObjectId("800000000000000000000000"))));
    List<BsonDocument> all = documents(ids(2_500));
    insert("faults.all", all);
    shard(
        "faults.other",
        new BsonDocument("k", new BsonInt32(1)),
        new BsonDocument("k", new BsonInt32(33)),
        new BsonDocument("k", new BsonInt32(66)));
    List<BsonDocument> other = documents(ids(500));
    insert("faults.other", other);
    // A shard key cannot be MaxKey, so only the unsharded collection gets a document with this _id.
    List<BsonValue> plain = ids(299);
    plain.add(new BsonMaxKey());
    insert("faults.plain", documents(plain));
    for (MongoClient client : List.of(from, to)) {
      client
          .getDatabase("faults")
          .createCollection(
              "collated",
              new CreateCollectionOptions()
                  .collation(Collation.builder().locale("en").numericOrdering(true).build()));
    }
    List<BsonDocument> collated =
        documents(ids(300)).stream().filter(each -> !each.get("_id").isSymbol()).toList();
    insert("faults.collated", collated);
    assertThat(verification("faults").documentsPerRange(150).build().run())
        .satisfies(
            report -> {
              assertThat(report.details()).isEmpty();
              assertThat(report.metadata()).isEmpty();
              assertThat(report.isEqual()).isTrue();
              assertThat(report.compared()).isEqualTo(2_500 + 500 + 300 + collated.size());
            });

    Set<String> planted = new TreeSet<>();
    MongoCollection<BsonDocument> copy = at(to, "faults.all");
    for (int i = 0; i < all.size(); i += 9) {
      BsonDocument document = all.get(i).clone();
      BsonValue id = document.get("_id");
      Difference.Kind kind = Difference.Kind.DIFFERENT;
      switch (i / 9 % 7) {
        case 0 -> {
          kind = Difference.Kind.MISSING;
          assertThat(copy.deleteOne(id(id)).getDeletedCount()).isOne();
        }
        case 1 -> {
          kind = Difference.Kind.EXTRA;
          assertThat(at(from, "faults.all").deleteOne(id(id)).getDeletedCount()).isOne();
        }
        case 2 -> replace(copy, document.append("n", new BsonInt32(-1)));
        case 3 -> replace(copy, document.append("n", new BsonInt64(i)));
        case 4 -> {
          BsonValue first = document.remove("n");
          replace(copy, document.append("n", first));
        }
        case 5 ->
            replace(
                copy, document.append("sub", BsonDocument.parse("{a: 1, b: {d: 'e', c: 2.0}}")));
        default ->
            replace(
                copy,
                document.append(
                    "list", BsonDocument.parse("{l: [1, {x: 1, y: 2.0}, null]}").get("l")));
      }
      plant(planted, kind, "faults.all", id);
    }
    // Inserts a document with an _id that another shard already has. No index prevents this.
    BsonDocument twice = other.get(20).clone();
    var unusedInserted = at(to, "faults.other").insertOne(twice.append("k", new BsonInt32(99)));
    plant(planted, Difference.Kind.EXTRA, "faults.other", twice.get("_id"));
    BsonDocument dropped = other.get(30);
    var unusedDeleted = at(to, "faults.other").deleteOne(dropped);
    plant(planted, Difference.Kind.MISSING, "faults.other", dropped.get("_id"));
    // Replaces a document by one whose _id has the same value with another type.
    BsonValue number = new BsonInt32(14);
    var unusedGone = at(to, "faults.plain").deleteOne(id(number));
    BsonDocument retyped = document(new BsonInt64(14), 1);
    var unusedBack = at(to, "faults.plain").insertOne(retyped);
    plant(planted, Difference.Kind.DIFFERENT, "faults.plain", number);
    BsonDocument upper = document(new BsonString("TEXT"), 1);
    var unusedAdded = at(to, "faults.collated").insertOne(upper);
    plant(planted, Difference.Kind.EXTRA, "faults.collated", upper.get("_id"));

    for (boolean throughMongos : new boolean[] {false, true}) {
      VerifyReport report =
          verification("faults").documentsPerRange(150).throughMongos(throughMongos).build().run();
      assertThat(describe(report)).containsExactlyElementsOf(planted);
      assertThat(report.metadata()).isEmpty();
      assertThat(report.unsettled()).isZero();
    }
  }

  private static void replace(MongoCollection<BsonDocument> collection, BsonDocument document) {
    assertThat(collection.replaceOne(id(document.get("_id")), document).getModifiedCount()).isOne();
  }

  @Test
  void findsCollectionDifferences() throws InterruptedException {
    for (MongoClient client : List.of(from, to)) {
      boolean copy = client == to;
      MongoDatabase database = client.getDatabase(copy ? "meta2" : "meta");
      for (String name : List.of("indexed", "plain", copy ? "onlythere" : "onlyhere")) {
        database.createCollection(name);
      }
      MongoCollection<?> indexed = database.getCollection("indexed");
      var unusedA = indexed.createIndex(new BsonDocument("a", new BsonInt32(1)));
      var unusedB =
          indexed.createIndex(
              new BsonDocument("b", new BsonInt32(1)), new IndexOptions().unique(copy));
      var unusedC =
          indexed.createIndex(
              BsonDocument.parse(copy ? "{d: 1, c: 1}" : "{c: 1, d: 1}"),
              new IndexOptions().name("c"));
      var unusedE =
          indexed.createIndex(
              new BsonDocument("e", new BsonInt32(1)),
              new IndexOptions()
                  .expireAfter(60L, TimeUnit.SECONDS)
                  .partialFilterExpression(
                      BsonDocument.parse(copy ? "{e: {$gt: 1}}" : "{e: {$gt: 2}}")));
      if (!copy) {
        var unusedF = indexed.createIndex(new BsonDocument("f", new BsonInt32(1)));
      }
      database.createCollection(
          "valid",
          new CreateCollectionOptions()
              .validationOptions(new ValidationOptions().validator(Filters.gt("n", copy ? 2 : 1))));
      database.createCollection(
          "collated",
          new CreateCollectionOptions()
              .collation(Collation.builder().locale(copy ? "fr" : "en").build()));
      database.createCollection(
          "capped",
          new CreateCollectionOptions()
              .capped(true)
              .sizeInBytes(4096)
              .maxDocuments(copy ? 10 : 20));
      database.createView(
          "view", "plain", List.of(Filters.eq("$match", new BsonDocument("n", new BsonInt32(1)))));
      database.createView(
          "other",
          "plain",
          List.of(Filters.eq("$match", new BsonDocument("n", new BsonInt32(copy ? 1 : 2)))),
          new CreateViewOptions());
      database.createView(
          "literal",
          "plain",
          List.of(
              BsonDocument.parse(
                  "{$set: {n: {$literal: %s}}}".formatted(copy ? "NumberLong(1)" : "1"))));
      database.createCollection(
          "series",
          new CreateCollectionOptions()
              .timeSeriesOptions(new TimeSeriesOptions("at").metaField("m")));
      for (int i = 0; i < 50; i++) {
        var unused =
            database
                .getCollection("series", BsonDocument.class)
                .insertOne(
                    new BsonDocument("at", new BsonDateTime(1_000_000L * (i / 2)))
                        .append("_id", new BsonInt32(i))
                        .append("m", new BsonInt32(i % 2))
                        // Two values differ.
                        .append("v", new BsonInt32(copy && (i == 49 || i == 3) ? 0 : i)));
      }
    }
    source.shardCollection("meta.sharded", BY_ID, List.of());
    destination.shardCollection(
        "meta2.sharded", new BsonDocument("k", new BsonInt32(1)), List.of());
    for (boolean throughMongos : new boolean[] {false, true}) {
      assertMetadataDifferences(
          verification("meta")
              .rename(Map.of("meta", "meta2"))
              .throughMongos(throughMongos)
              .build()
              .run());
    }
  }

  private static void assertMetadataDifferences(VerifyReport report) {
    assertThat(report.metadata())
        .extracting(MetadataDifference::namespace, MetadataDifference::what)
        .map(tuple -> tuple.toList().get(0) + ": " + tuple.toList().get(1))
        .containsExactlyInAnyOrder(
            "meta.onlyhere: collection missing at the destination",
            "meta2.onlythere: collection missing at the source",
            "meta.indexed: index b_1 differs in unique",
            "meta.indexed: index c differs in key",
            "meta.indexed: index e_1 differs in partialFilterExpression",
            "meta.indexed: index f_1 missing at the destination",
            "meta.valid: option validator differs",
            "meta.collated: option collation differs",
            "meta.collated: index _id_ differs in collation",
            "meta.capped: option max differs",
            "meta.other: option pipeline differs",
            "meta.literal: option pipeline differs",
            "meta.sharded: index k_1 missing at the source",
            "meta.sharded: shard key differs");
    assertThat(describe(report))
        .containsExactly(
            describe(
                new Difference(
                    "meta.series",
                    Difference.Kind.DIFFERENT,
                    new BsonDocument("at", new BsonDateTime(1_000_000)))),
            describe(
                new Difference(
                    "meta.series",
                    Difference.Kind.DIFFERENT,
                    new BsonDocument("at", new BsonDateTime(24_000_000)))));
  }

  /** A write to the source, which the test applies to the destination later. */
  private record Change(BsonValue id, int n, long due) implements Delayed {
    @Override
    public long getDelay(TimeUnit unit) {
      return unit.convert(due - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    @Override
    public int compareTo(Delayed other) {
      return Long.compare(due - ((Change) other).due, 0);
    }

    /** Applies the change. Every seventh change is a delete. */
    void apply(MongoCollection<BsonDocument> collection) {
      if (n % 7 == 0) {
        var unused = collection.deleteOne(VerifyIT.id(id));
      } else {
        var unused =
            collection.replaceOne(
                VerifyIT.id(id), document(id, n), new ReplaceOptions().upsert(true));
      }
    }
  }

  /**
   * Ranges move on both clusters, and the destination follows the source with a delay. The
   * verification must not report these temporary differences.
   */
  @Test
  void ignoresConcurrentChanges() throws InterruptedException {
    BsonDocument[] points = {
      id(new BsonInt32(400)), id(new BsonInt32(900)), id(new BsonString("t")),
    };
    source.shardCollection("live.all", BY_ID, List.of(points));
    destination.shardCollection("live.all", BY_ID, List.of(points));
    List<BsonValue> ids = ids(3_000);
    List<BsonValue> written = new ArrayList<>(ids.subList(0, 600));
    insert("live.all", documents(ids));
    Set<String> planted = new TreeSet<>();
    MongoCollection<BsonDocument> copy = at(to, "live.all");
    for (int i = 610; i < 3_000; i += 40) {
      assertThat(copy.deleteOne(id(ids.get(i))).getDeletedCount()).isOne();
      plant(planted, Difference.Kind.MISSING, "live.all", ids.get(i));
      replace(copy, document(ids.get(i + 1), -1));
      plant(planted, Difference.Kind.DIFFERENT, "live.all", ids.get(i + 1));
    }
    DelayQueue<Change> changes = new DelayQueue<>();
    AtomicInteger writes = new AtomicInteger();
    AtomicInteger moves = new AtomicInteger();
    List<Thread> threads =
        List.of(
            new Thread(() -> guarded(() -> write(written, changes, writes)), "writer"),
            new Thread(() -> guarded(() -> follow(changes)), "follower"),
            new Thread(() -> guarded(() -> move(source, SHARDS, points, moves)), "mover"),
            new Thread(
                () -> guarded(() -> move(destination, SHARDS.subList(0, 2), points, moves)),
                "mover of the destination"));
    threads.forEach(Thread::start);
    int runs = 0;
    try {
      long end = System.nanoTime() + STRESS.toNanos();
      do {
        VerifyReport report =
            verification("live").documentsPerRange(200).settle(Duration.ofSeconds(4)).build().run();
        assertThat(failures).isEmpty();
        assertThat(describe(report)).containsExactlyElementsOf(planted);
        assertThat(report.metadata()).isEmpty();
        assertThat(report.unsettled()).isZero();
        runs++;
      } while (System.nanoTime() - end < 0);
    } finally {
      stopped = true;
      for (Thread thread : threads) {
        thread.join();
      }
    }
    assertThat(failures).isEmpty();
    System.err.printf("%d verifications, %d writes, %d moves%n", runs, writes.get(), moves.get());
    assertThat(writes.get()).isGreaterThan(100);
    assertThat(moves.get()).isGreaterThan(2);
  }

  private interface Task {
    void run() throws InterruptedException;
  }

  private void guarded(Task task) {
    try {
      task.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      failures.add(e);
    }
  }

  /** Writes at a rate at which the follower does not fall behind. */
  private void write(List<BsonValue> ids, DelayQueue<Change> changes, AtomicInteger writes)
      throws InterruptedException {
    MongoCollection<BsonDocument> collection = at(from, "live.all");
    Random random = new Random(1);
    while (!stopped) {
      // Ten documents get half of all writes.
      BsonValue id = ids.get(random.nextInt(random.nextBoolean() ? 10 : ids.size()));
      Change change =
          new Change(
              id,
              1 + writes.incrementAndGet(),
              System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(300));
      change.apply(collection);
      changes.add(change);
      while (changes.size() > 100 && !stopped) {
        RealTime.pass(Duration.ofMillis(1));
      }
    }
  }

  private void follow(DelayQueue<Change> changes) throws InterruptedException {
    MongoCollection<BsonDocument> collection = at(to, "live.all");
    while (!stopped) {
      Change change = changes.poll(100, TimeUnit.MILLISECONDS);
      if (change != null) {
        change.apply(collection);
      }
    }
  }

  private void move(
      Testbed testbed, List<String> shards, BsonDocument[] points, AtomicInteger moves) {
    Random random = new Random(1);
    while (!stopped) {
      int chunk = random.nextInt(points.length + 1);
      testbed.moveRange(
          "live.all",
          chunk == 0 ? id(new BsonMinKey()) : points[chunk - 1],
          shards.get(random.nextInt(shards.size())));
      moves.incrementAndGet();
    }
  }

  @Test
  void commandReportsDifferences() throws IOException {
    insert("command.equal", documents(ids(50)));
    insert("command.different", documents(ids(50)));
    var unusedDeleted = at(to, "command.different").deleteOne(id(BsonNull.VALUE));
    CommandResult equal = run("--include", "command.equal");
    assertThat(equal.err()).isEmpty();
    assertThat(equal.out()).contains("compared   50 documents").endsWith("equal\n");
    assertThat(equal.exitCode()).isZero();
    CommandResult nothing = run("--include", "command.none");
    assertThat(nothing.exitCode()).isEqualTo(2);
    assertThat(nothing.err()).contains("the selection includes no collection");
    CommandResult different =
        run("--include", "command", "--settle", "1s", "--json", "--details", "5");
    assertThat(different.exitCode()).isEqualTo(3);
    assertThat(new ObjectMapper().readTree(different.out()))
        .isEqualTo(
            new ObjectMapper()
                .readTree(
                    """
                    {"compared": 100, "missing": 1, "extra": 0, "different": 0, "unsettled": 0,
                     "metadata": [],
                     "details": [{"namespace": "command.different", "kind": "missing",
                                  "key": {"_id": null}}],
                     "resumedRanges": 0}
                    """));
    assertThat(run("--include", "command", "--settle", "1s").out()).doesNotContain("_id");
  }

  @Test
  void rejectsInvalidClustersAndStateFiles(@TempDir Path folder) throws IOException {
    insert("refused.equal", documents(ids(10)));
    String shard = source.shardHosts().get("one").replaceFirst(".*/", "");
    String config = source.configServers().replaceFirst(".*/", "");
    Path other = Files.writeString(folder.resolve("other"), "{\"a\": 1}");
    assertRefused(2, "same cluster", "--from", source.url(), "--to", source.url());
    assertRefused(2, "a shard of a cluster", "--from", direct(shard));
    assertRefused(2, "config servers", "--to", direct(config));
    assertRefused(2, "not the state file of a verification", "--state", other.toString());
    assertThat(other).hasContent("{\"a\": 1}");
    assertRefused(2, "no such file", "--state", folder.resolve("no/such").toString());
    assertRefused(1, "cannot reach", "--to", "mongodb://127.0.0.1:1/", "--timeout", "500ms");
  }

  private static String direct(String address) {
    return "mongodb://" + address + "/?directConnection=true";
  }

  private static void assertRefused(int exitCode, String why, String... arguments) {
    CommandResult result = run(arguments);
    assertThat(result.err()).contains(why).hasLineCount(1);
    assertThat(result.out()).isEmpty();
    assertThat(result.exitCode()).isEqualTo(exitCode);
  }

  private record CommandResult(int exitCode, String out, String err) {}

  private static CommandResult run(String... arguments) {
    List<String> all = new ArrayList<>(List.of("verify"));
    all.addAll(List.of("--from", source.url(), "--to", destination.url()));
    all.addAll(List.of(arguments));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(all.toArray(String[]::new));
    return new CommandResult(exitCode, out.toString(), err.toString());
  }
}
