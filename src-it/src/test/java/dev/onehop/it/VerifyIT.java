package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.ReplaceOptions;
import dev.onehop.copy.verify.ClusterVerification;
import dev.onehop.copy.verify.Difference;
import dev.onehop.copy.verify.VerifyReport;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonMaxKey;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compares two clusters with different numbers of shards, after the test has changed some
 * documents.
 */
@SuppressWarnings("try") // javac: close() may throw InterruptedException
@Tag("full")
class VerifyIT {
  private static final Duration STRESS =
      Duration.ofSeconds(Integer.getInteger("onehop.it.verify.seconds", 4));
  private static final int DELAY_MILLIS = 300;

  private static final List<String> SINGLE_IDS =
      List.of(
          "{$minKey: 1}",
          "null",
          "true",
          "false",
          "{$numberDouble: 'NaN'}",
          "{$numberDouble: '-Infinity'}",
          "{$numberDouble: 'Infinity'}",
          "''",
          "{}");

  /** The parameters are a number, a random number, and a time. */
  private static final List<String> IDS =
      List.of(
          "%d",
          "{$numberLong: '%d'}",
          "%d.5",
          "{$numberDecimal: '%d.25'}",
          "'text-%d-\u00e9\ud83d\ude00'",
          "{a: %d, b: 'x'}",
          "{$binary: {base64: '%2$08x', subType: '00'}}",
          "{$binary: {base64: '%2$08x', subType: '04'}}",
          "{$oid: '%2$08x0000000000000000'}",
          "{$date: {$numberLong: '%3$d'}}",
          "{$timestamp: {t: 1, i: %d}}",
          "{$code: 'f%d()'}",
          "{$code: 'g', $scope: {s: %d}}",
          "{$symbol: 'symbol-%d'}",
          "{deep: {list: [%d]}}");

  private static TwoClusters clusters;

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private volatile boolean stopped;

  @BeforeAll
  static void start() {
    clusters = TwoClusters.start("verify", 69);
  }

  @AfterAll
  static void stop() {
    if (clusters != null) {
      clusters.close();
    }
  }

  private static ClusterVerification.Builder verification(String included) {
    return ClusterVerification.builder(clusters.source().url(), clusters.destination().url())
        .include(List.of(included))
        .documentsPerRange(150)
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
    for (MongoClient client : List.of(clusters.from(), clusters.to())) {
      var unused =
          at(client, namespace).insertMany(documents, new InsertManyOptions().ordered(false));
    }
  }

  private static BsonDocument id(BsonValue value) {
    return new BsonDocument("_id", value);
  }

  private static BsonDocument document(BsonValue id, int n) {
    return id(id)
        .append("k", new BsonInt32(n % 100))
        .append("n", new BsonInt32(n))
        .append("text", new BsonString("x".repeat(50)));
  }

  /** Documents whose {@code _id}s have every type that an {@code _id} can have. */
  private static List<BsonDocument> documents(int count) {
    List<BsonDocument> documents = new ArrayList<>();
    for (int n = 0; n < count; n++) {
      int i = n - SINGLE_IDS.size();
      String id =
          i < 0
              ? SINGLE_IDS.get(n)
              : IDS.get(i % IDS.size())
                  .formatted(i, i * 0x9E3779B9, (i - 1_000) * 100_000_000_000L);
      documents.add(document(BsonDocument.parse("{_id: " + id + "}").get("_id"), n));
    }
    return documents;
  }

  private static String describe(Difference difference) {
    return difference.kind() + " " + difference.namespace() + " " + difference.key().toJson();
  }

  /** Makes a document differ, and returns what a verification must report. */
  private static String plant(String namespace, BsonDocument document, Difference.Kind kind) {
    BsonDocument key = id(document.get("_id")).append("k", document.get("k"));
    long changed =
        switch (kind) {
          case MISSING -> at(clusters.to(), namespace).deleteOne(key).getDeletedCount();
          case EXTRA -> at(clusters.from(), namespace).deleteOne(key).getDeletedCount();
          case DIFFERENT ->
              at(clusters.to(), namespace)
                  .replaceOne(key, document.clone().append("n", new BsonInt32(-1)))
                  .getModifiedCount();
        };
    assertThat(changed).isOne();
    return describe(new Difference(namespace, kind, id(document.get("_id"))));
  }

  private static void assertDifferences(VerifyReport report, Set<String> planted) {
    assertThat(report.details())
        .extracting(VerifyIT::describe)
        .containsExactlyInAnyOrderElementsOf(planted);
    assertThat(report.missing() + report.extra() + report.different()).isEqualTo(planted.size());
    assertThat(report.unsettled()).isZero();
    assertThat(report.metadata()).isEmpty();
  }

  /** Plants every kind of difference, at {@code _id}s of every type. */
  @Test
  void findsOnlyPlantedDocumentDifferences() throws InterruptedException {
    BsonDocument byId = BsonDocument.parse("{_id: 1}");
    List<BsonDocument> points =
        List.of(
            BsonDocument.parse("{_id: 700}"),
            BsonDocument.parse("{_id: 't'}"),
            BsonDocument.parse("{_id: {$oid: '800000000000000000000000'}}"));
    clusters.source().shardCollection("faults.all", byId, points);
    clusters.destination().shardCollection("faults.all", byId, points.subList(0, 1));
    List<BsonDocument> all = documents(2_500);
    insert("faults.all", all);
    BsonDocument byK = BsonDocument.parse("{k: 1}");
    points = List.of(BsonDocument.parse("{k: 33}"), BsonDocument.parse("{k: 66}"));
    clusters.source().shardCollection("faults.other", byK, points);
    clusters.destination().shardCollection("faults.other", byK, points.subList(0, 1));
    List<BsonDocument> other = documents(500);
    insert("faults.other", other);
    // A shard key cannot be MaxKey, so only the unsharded collection gets a document with this _id.
    List<BsonDocument> plain = documents(299);
    plain.add(document(new BsonMaxKey(), 299));
    insert("faults.plain", plain);
    for (MongoClient client : List.of(clusters.from(), clusters.to())) {
      var unused =
          client
              .getDatabase("faults")
              .runCommand(
                  BsonDocument.parse(
                      "{create: 'collated', collation: {locale: 'en', numericOrdering: true}}"));
    }
    List<BsonDocument> collated =
        documents(300).stream().filter(each -> !each.get("_id").isSymbol()).toList();
    insert("faults.collated", collated);
    VerifyReport equal = verification("faults").build().run();
    assertDifferences(equal, Set.of());
    assertThat(equal.isEqual()).isTrue();
    assertThat(equal.compared()).isEqualTo(2_500 + 500 + 300 + collated.size());

    Set<String> planted = new TreeSet<>();
    List<Difference.Kind> kinds = List.of(Difference.Kind.values());
    for (int i = 0; i < all.size(); i += 8) {
      planted.add(plant("faults.all", all.get(i), kinds.get(i / 8 % kinds.size())));
    }
    planted.add(plant("faults.other", other.get(30), Difference.Kind.MISSING));
    // Inserts a document with an _id that another shard already has. No index prevents this.
    BsonDocument twice = other.get(20).clone().append("k", new BsonInt32(99));
    planted.add(plantExtra("faults.other", twice));
    // Replaces a document by one whose _id has the same value with another type.
    BsonDocument number = plain.get(SINGLE_IDS.size() + IDS.size());
    var unusedPlanted = plant("faults.plain", number, Difference.Kind.MISSING);
    var unusedExtra = plantExtra("faults.plain", document(new BsonInt64(IDS.size()), 1));
    planted.add("DIFFERENT faults.plain {\"_id\": 15}");
    planted.add(plantExtra("faults.collated", document(new BsonString("TEXT"), 1)));
    for (boolean throughMongos : new boolean[] {false, true}) {
      assertDifferences(verification("faults").throughMongos(throughMongos).build().run(), planted);
    }
  }

  private static String plantExtra(String namespace, BsonDocument document) {
    var unused = at(clusters.to(), namespace).insertOne(document);
    return describe(new Difference(namespace, Difference.Kind.EXTRA, id(document.get("_id"))));
  }

  @Test
  void findsCollectionDifferences() throws InterruptedException {
    createDifferently(clusters.from().getDatabase("meta"), 1);
    createDifferently(clusters.to().getDatabase("meta2"), 2);
    clusters.source().shardCollection("meta.sharded", BsonDocument.parse("{_id: 1}"), List.of());
    clusters
        .destination()
        .shardCollection("meta2.sharded", BsonDocument.parse("{k: 1}"), List.of());
    for (boolean throughMongos : new boolean[] {false, true}) {
      VerifyReport report =
          verification("meta")
              .rename(Map.of("meta", "meta2"))
              .throughMongos(throughMongos)
              .build()
              .run();
      assertThat(report.metadata())
          .extracting(difference -> difference.namespace() + ": " + difference.what())
          .containsExactlyInAnyOrder(
              "meta.only1: collection missing at the destination",
              "meta2.only2: collection missing at the source",
              "meta.indexed: index filter differs in partialFilterExpression",
              "meta.indexed: index fields differs in key",
              "meta.indexed: index only1 missing at the destination",
              "meta.indexed: index only2 missing at the source",
              "meta.valid: option validator differs",
              "meta.collated: option collation differs",
              "meta.collated: index _id_ differs in collation",
              "meta.capped: option max differs",
              "meta.other: option pipeline differs",
              "meta.sharded: index k_1 missing at the source",
              "meta.sharded: shard key differs");
      assertThat(report.details())
          .extracting(VerifyIT::describe)
          .containsExactlyInAnyOrder(
              describe(differentAt(1_000_000)), describe(differentAt(24_000_000)));
    }
  }

  private static Difference differentAt(long millis) {
    return new Difference(
        "meta.series", Difference.Kind.DIFFERENT, new BsonDocument("at", new BsonDateTime(millis)));
  }

  /**
   * Creates collections.
   *
   * @param number 1 at the source, 2 at the destination; a part of all options that differ
   */
  private static void createDifferently(MongoDatabase database, int number) {
    for (String command :
        List.of(
            "{create: 'plain'}",
            "{create: 'only%d'}",
            "{createIndexes: 'indexed', indexes: [{key: {a: 1}, name: 'a'},"
                + " {key: {b: 1}, name: 'filter', partialFilterExpression: {b: {$gt: %d}}},"
                + " {key: {c%1$d: 1, c: 1}, name: 'fields'}, {key: {f: 1}, name: 'only%1$d'}]}",
            "{create: 'valid', validator: {n: {$gt: %d}}}",
            "{create: 'collated', collation: {locale: 'en', strength: %d}}",
            "{create: 'capped', capped: true, size: 4096, max: %d}",
            "{create: 'view', viewOn: 'plain', pipeline: [{$match: {n: 1}}]}",
            "{create: 'other', viewOn: 'plain', pipeline: [{$match: {n: %d}}]}",
            "{create: 'series', timeseries: {timeField: 'at', metaField: 'm'}}")) {
      var unused = database.runCommand(BsonDocument.parse(command.formatted(number)));
    }
    for (int i = 0; i < 50; i++) {
      // Two values differ.
      int value = i == 3 || i == 49 ? number : 0;
      var unused =
          database
              .getCollection("series", BsonDocument.class)
              .insertOne(
                  new BsonDocument("at", new BsonDateTime(1_000_000L * (i / 2)))
                      .append("_id", new BsonInt32(i))
                      .append("m", new BsonInt32(i % 2))
                      .append("v", new BsonInt32(value)));
    }
  }

  /**
   * Ranges move on both clusters, and the destination follows the source with a delay. The
   * verification must not report these temporary differences.
   */
  @Test
  void ignoresConcurrentChanges() throws InterruptedException {
    List<BsonDocument> points =
        List.of(
            BsonDocument.parse("{_id: 400}"),
            BsonDocument.parse("{_id: 900}"),
            BsonDocument.parse("{_id: 't'}"));
    BsonDocument byId = BsonDocument.parse("{_id: 1}");
    clusters.source().shardCollection("live.all", byId, points);
    clusters.destination().shardCollection("live.all", byId, points);
    List<BsonDocument> documents = documents(3_000);
    insert("live.all", documents);
    Set<String> planted = new TreeSet<>();
    for (int i = 610; i < 3_000; i += 40) {
      planted.add(plant("live.all", documents.get(i), Difference.Kind.MISSING));
      planted.add(plant("live.all", documents.get(i + 1), Difference.Kind.DIFFERENT));
    }
    AtomicInteger writes = new AtomicInteger();
    Thread writer = new Thread(() -> write(documents.subList(0, 600), writes), "writer");
    writer.start();
    try (RangeMoves atSource =
            new RangeMoves(clusters.source(), "live.all", points, Duration.ZERO);
        RangeMoves atDestination =
            new RangeMoves(clusters.destination(), "live.all", points, Duration.ZERO)) {
      long end = System.nanoTime() + STRESS.toNanos();
      do {
        VerifyReport report = verification("live").settle(Duration.ofSeconds(4)).build().run();
        assertThat(failures).isEmpty();
        assertDifferences(report, planted);
      } while (System.nanoTime() - end < 0);
      int moves = atSource.done() + atDestination.done();
      System.err.printf("%d writes, %d moves%n", writes.get(), moves);
      assertThat(moves).isGreaterThan(2);
    } finally {
      stopped = true;
      writer.join();
    }
    assertThat(failures).isEmpty();
    assertThat(writes.get()).isGreaterThan(100);
  }

  /**
   * Changes documents of the source, and makes the same changes at the destination later. Does not
   * let the destination fall behind.
   */
  private void write(List<BsonDocument> documents, AtomicInteger writes) {
    Random random = new Random(1);
    ScheduledThreadPoolExecutor follower = new ScheduledThreadPoolExecutor(1);
    try {
      while (!stopped) {
        // Ten documents get half of all writes.
        BsonValue id =
            documents.get(random.nextInt(random.nextBoolean() ? 10 : documents.size())).get("_id");
        int n = writes.incrementAndGet();
        change(clusters.from(), id, n);
        var unused =
            follower.schedule(
                () -> change(clusters.to(), id, n), DELAY_MILLIS, TimeUnit.MILLISECONDS);
        while (follower.getQueue().size() > 100 && !stopped) {
          RealTime.pass(Duration.ofMillis(1));
        }
      }
      follower.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
      follower.shutdown();
      assertThat(follower.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Every seventh change is a delete. */
  private void change(MongoClient client, BsonValue id, int n) {
    try {
      MongoCollection<BsonDocument> collection = at(client, "live.all");
      if (n % 7 == 0) {
        var unused = collection.deleteOne(id(id));
      } else {
        var unused =
            collection.replaceOne(id(id), document(id, n), new ReplaceOptions().upsert(true));
      }
    } catch (RuntimeException e) {
      failures.add(e);
    }
  }

  @Test
  void commandReportsDifferences() throws IOException {
    insert("command.equal", documents(50));
    insert("command.different", documents(50));
    var unused = plant("command.different", document(BsonNull.VALUE, 1), Difference.Kind.MISSING);
    CopyIT.Printed equal = command("--include", "command.equal");
    assertThat(equal.err()).isEmpty();
    assertThat(equal.out()).contains("compared   50 documents").endsWith("equal\n");
    assertThat(equal.exitCode()).isZero();
    CopyIT.Printed different =
        command("--include", "command", "--settle", "1s", "--json", "--details", "5");
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
    assertThat(command("--include", "command", "--settle", "1s").out()).doesNotContain("_id");
  }

  @Test
  void rejectsInvalidClusters() {
    assertRefused("same cluster", "--to", clusters.source().url());
    assertRefused(
        "a shard of a cluster", "--from", direct(clusters.source().shardHosts().get("one")));
    assertRefused("config servers", "--to", direct(clusters.source().configServers()));
  }

  private static String direct(String replicaSet) {
    return "mongodb://" + replicaSet.replaceFirst(".*/", "") + "/?directConnection=true";
  }

  private static void assertRefused(String why, String... arguments) {
    CopyIT.Printed result = command(arguments);
    assertThat(result.err()).contains(why).hasLineCount(1);
    assertThat(result.out()).isEmpty();
    assertThat(result.exitCode()).isEqualTo(2);
  }

  private static CopyIT.Printed command(String... arguments) {
    List<String> all = new ArrayList<>(List.of("verify"));
    all.addAll(List.of("--from", clusters.source().url(), "--to", clusters.destination().url()));
    all.addAll(List.of(arguments));
    return CopyIT.onehop(all.toArray(String[]::new));
  }
}
