package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.CreateCollectionOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.TimeSeriesOptions;
import com.mongodb.client.model.Updates;
import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.ClusterCopy.Begin;
import dev.onehop.copy.CopyControl;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import dev.onehop.testbed.Testbed;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.Document;
import org.bson.types.MaxKey;
import org.bson.types.MinKey;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The lag of a copy in operations, and copies in the reverse direction. */
@Tag("full")
class CopyBackIT {
  private static final int DOCUMENTS = 600;
  private static final Duration LONG = Duration.ofMinutes(2);

  private static Testbed three;
  private static Testbed two;
  private static MongoClient from;
  private static MongoClient to;

  @BeforeAll
  static void start() {
    three = Testbed.builder(NearShards.topology("back-from", 61, 3)).start();
    two = Testbed.builder(NearShards.topology("back-to", 62, 2)).start();
    from = MongoClients.create(three.url());
    to = MongoClients.create(two.url());
  }

  @AfterAll
  static void stop() {
    for (AutoCloseable each : Arrays.asList(from, to, three, two)) {
      if (each != null) {
        try {
          each.close();
        } catch (Exception e) {
          throw new AssertionError(e);
        }
      }
    }
  }

  /** A copy that runs in the background. */
  private static final class Running implements AutoCloseable {
    private final ClusterCopy copy;
    private final CompletableFuture<Void> ended;

    Running(ClusterCopy.Builder builder) {
      this.copy = builder.build();
      this.ended =
          CompletableFuture.runAsync(
              () -> {
                try {
                  copy.run();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              },
              task -> new Thread(task, "copy").start());
    }

    @Override
    public void close() {
      copy.close();
      ended.exceptionally(failure -> null).join();
    }
  }

  private static ClusterCopy.Builder following(String database) {
    return ClusterCopy.builder(three.url(), two.url())
        .job(database)
        .include(List.of(database))
        .lease(Duration.ofSeconds(2))
        .phases(
            EnumSet.of(
                CopyPhase.STRUCTURE, CopyPhase.FULL, CopyPhase.INDEXES, CopyPhase.INCREMENTAL));
  }

  private static void await(Running running, CopyControl control, Predicate<BsonDocument> is) {
    Awaitility.await()
        .atMost(LONG)
        // There is no job yet.
        .ignoreException(CopyException.class)
        .untilAsserted(
            () -> {
              running.ended.getNow(null);
              BsonDocument status = control.status();
              assertThat(is.test(status)).as("%s", status).isTrue();
            });
  }

  private static Predicate<BsonDocument> phase(CopyPhase phase) {
    return status -> new BsonString(phase.name()).equals(status.get("phase"));
  }

  private static Predicate<BsonDocument> behind(long operations) {
    return status ->
        new BsonInt64(operations)
            .equals(status.getDocument("progress", new BsonDocument()).get("lagOperations"));
  }

  @Test
  @Tag("nightly")
  void countsOperationsNotYetApplied() throws InterruptedException {
    three.shardCollection(
        "behind.docs", BsonDocument.parse("{_id: 1}"), Numbered.splitAt(200, 400));
    MongoCollection<Document> docs = from.getDatabase("behind").getCollection("docs");
    docs.insertMany(
        IntStream.range(0, DOCUMENTS)
            .mapToObj(i -> new Document("_id", i).append("n", i))
            .toList());
    try (CopyControl control = CopyControl.connect(two.url(), settings -> {}, "behind")) {
      try (Running running = new Running(following("behind"))) {
        await(running, control, phase(CopyPhase.INCREMENTAL).and(behind(0)));
        control.pause();
        await(running, control, status -> running.copy.progress().paused());
        RealTime.pass(Duration.ofSeconds(1));
        // Each statement changes many documents, and each document is one operation of the lag.
        docs.updateMany(Filters.lt("n", 100), Updates.set("x", 1));
        docs.deleteMany(Filters.gte("n", 570));
        from.getDatabase("elsewhere").getCollection("docs").insertOne(new Document());
        try (ClientSession session = from.startSession()) {
          session.startTransaction();
          for (int i = 0; i < 7; i++) {
            docs.insertOne(session, new Document("_id", 190 + i + 0.5));
          }
          session.commitTransaction();
        }
        // A migration does not raise the lag, because it is no operation of the application.
        three.moveRange("behind.docs", BsonDocument.parse("{_id: 300}"), "three");
        await(running, control, behind(138));
        RealTime.pass(Duration.ofSeconds(2));
        assertThat(running.copy.progress().lagOperations()).isEqualTo(138);
        assertThat(running.copy.progress().lag()).isGreaterThan(Duration.ofSeconds(1));
      }
      docs.insertOne(new Document("_id", 10_000));
      try (Running again = new Running(following("behind").begin(Begin.RESUME))) {
        await(again, control, behind(139));
        control.proceed();
        await(again, control, behind(0));
        control.finish();
        again.ended.join();
      }
    }
    CopyIT.assertSame(from.getDatabase("behind"), to.getDatabase("behind"));
  }

  @Test
  void reportsUnknownLagWithoutOplogPrivilege() throws Exception {
    try (RealMongod set = RealMongod.startWithAuthentication();
        MongoClient admin =
            MongoClients.create(CopyIT.as(set, RealMongod.ADMIN, RealMongod.PASSWORD))) {
      admin.getDatabase("uncounted").getCollection("docs").insertOne(new Document("_id", 1));
      admin
          .getDatabase("admin")
          .runCommand(
              Document.parse(
                  "{createUser: 'reader', pwd: 'a secret', roles: ['readAnyDatabase']}"));
      try (Running running =
          new Running(
              ClusterCopy.builder(CopyIT.as(set, "reader", "a secret"), two.url())
                  .job("uncounted")
                  .include(List.of("uncounted"))
                  .phases(EnumSet.allOf(CopyPhase.class)))) {
        finish(running, two.url(), "uncounted");
        assertThat(running.copy.progress().lagOperations()).isNull();
        assertThat(running.copy.progress().notes())
            .contains(
                "it is unknown how many operations the destination is behind: the user lacks the"
                    + " privilege find"
                    + " on local.oplog.rs at the source");
      }
      CopyIT.assertSame(admin.getDatabase("uncounted"), to.getDatabase("uncounted"));
    }
  }

  private static void createSeries(MongoDatabase database, String name, int first, int count) {
    database.createCollection(
        name,
        new CreateCollectionOptions()
            .timeSeriesOptions(new TimeSeriesOptions("at").metaField("m")));
    database
        .getCollection(name)
        .insertMany(
            IntStream.range(first, first + count)
                .mapToObj(
                    i ->
                        new Document("_id", i)
                            .append("at", new BsonDateTime(i * 60_000L))
                            .append("m", i % 7))
                .toList());
    database.getCollection(name).createIndex(new Document("m", 1).append("at", -1));
  }

  private static Set<Document> documents(MongoDatabase database, String name) {
    return database.getCollection(name).find().into(new HashSet<>());
  }

  /** Change streams do not report time series, so the copy needs another way to find new ones. */
  @Test
  void copiesTimeSeriesCreatedDuringCopy() throws Exception {
    MongoDatabase source = from.getDatabase("series");
    MongoDatabase copied = to.getDatabase("series2");
    createSeries(source, "first", 0, 300);
    createSeries(source, "again", 0, 100);
    try (CopyControl control = CopyControl.connect(two.url(), settings -> {}, "series")) {
      try (Running running = new Running(following("series").rename("series", "series2"))) {
        await(running, control, phase(CopyPhase.INCREMENTAL));
        createSeries(source, "late", 1_000, 700);
        source.getCollection("again").drop();
        createSeries(source, "again", 5_000, 50);
        control.finish();
        running.ended.join();
        assertThat(running.copy.progress().notes())
            .filteredOn(note -> note.contains("was created during the copy"))
            .hasSize(2);
      }
    }
    for (String name : List.of("first", "late", "again")) {
      assertThat(documents(copied, name)).as(name).isEqualTo(documents(source, name)).isNotEmpty();
    }
    CopyIT.Printed verified =
        CopyIT.onehop(
            "verify",
            "--from",
            three.url(),
            "--to",
            two.url(),
            "--include",
            "series",
            "--rename",
            "series=series2",
            "--settle",
            "1s");
    assertThat(verified.exitCode()).as(verified.out() + verified.err()).isZero();

    try (Running back = new Running(reverse("series", two.url(), three.url()))) {
      try (CopyControl control = CopyControl.connect(three.url(), settings -> {}, "series")) {
        await(back, control, phase(CopyPhase.INCREMENTAL));
      }
      createSeries(copied, "new", 0, 100);
      finish(back, three.url(), "series");
    }
    assertThat(documents(source, "new")).isEqualTo(documents(copied, "new")).hasSize(100);
    assertThat(documents(source, "late")).hasSize(700);
  }

  /**
   * The last index of a copy can't be built, because a document has a duplicate value. The copy
   * continues after that document is removed.
   */
  @Test
  void resumesTimeSeriesCopyAfterIndexFailure() throws Exception {
    MongoDatabase source = from.getDatabase("indexed");
    MongoDatabase copied = to.getDatabase("indexed");
    source
        .getCollection("plain")
        .insertMany(
            IntStream.range(0, 50).mapToObj(i -> new Document("_id", i).append("u", i)).toList());
    source
        .getCollection("plain")
        .createIndex(new Document("u", 1), new IndexOptions().unique(true));
    try (CopyControl control = CopyControl.connect(two.url(), settings -> {}, "indexed")) {
      try (Running running = new Running(following("indexed"))) {
        await(running, control, phase(CopyPhase.INCREMENTAL));
        createSeries(source, "late", 0, 100);
        copied.getCollection("plain").insertOne(new Document("_id", -1).append("u", 5));
        control.finish();
        assertThatThrownBy(running.ended::join).hasMessageContaining("can't be built");
      }
      copied.getCollection("plain").deleteOne(Filters.eq(-1));
      try (Running resumed = new Running(following("indexed").begin(Begin.RESUME))) {
        resumed.ended.join();
      }
    }
    assertThat(documents(copied, "late")).isEqualTo(documents(source, "late")).hasSize(100);
  }

  private static ClusterCopy.Builder reverse(String job, String from, String to) {
    return ClusterCopy.builder(from, to).job(job).lease(Duration.ofSeconds(2)).reverse();
  }

  private static void assertRefused(ClusterCopy.Builder builder, String why) {
    assertThatThrownBy(
            () -> {
              try (ClusterCopy copy = builder.build()) {
                copy.run();
              }
            })
        .isInstanceOf(CopyException.class)
        .hasMessageContaining(why);
  }

  /** Waits until the copy applies changes, and then finishes it. */
  private static void finish(Running running, String destination, String job)
      throws InterruptedException {
    try (CopyControl control = CopyControl.connect(destination, settings -> {}, job)) {
      await(running, control, phase(CopyPhase.INCREMENTAL));
      control.finish();
      running.ended.join();
    }
  }

  @Test
  void reverseCopyAppliesChangesAfterFinish() throws Exception {
    three.shardCollection("go.ranged", BsonDocument.parse("{_id: 1}"), Numbered.splitAt(200, 400));
    MongoDatabase old = from.getDatabase("go");
    old.getCollection("ranged", BsonDocument.class).insertMany(CopyIT.documents(DOCUMENTS));
    old.getCollection("plain", BsonDocument.class).insertMany(CopyIT.documents(DOCUMENTS));
    IndexOptions unique =
        new IndexOptions()
            .unique(true)
            .partialFilterExpression(Document.parse("{n: {$exists: true}}"));
    old.getCollection("plain").createIndex(new Document("n", 1), unique);
    old.getCollection("plain")
        .createIndex(new Document("when", 1), new IndexOptions().expireAfter(30L, TimeUnit.DAYS));
    old.getCollection("dropped").insertOne(new Document("_id", 1));
    assertRefused(reverse("go", two.url(), three.url()), "the source has no job go");
    try (Running there = new Running(following("go").rename("go", "gone"))) {
      try (CopyControl control = CopyControl.connect(two.url(), settings -> {}, "go")) {
        await(there, control, phase(CopyPhase.INCREMENTAL));
        assertRefused(reverse("go", two.url(), three.url()), "was not finished");
        old.getCollection("ranged").deleteOne(new Document("n", 7));
      }
      finish(there, two.url(), "go");
    }
    CopyIT.assertSame(old, to.getDatabase("gone"));

    MongoDatabase now = to.getDatabase("gone");
    change(now);
    CopyIT.Printed elsewhere =
        CopyIT.onehop("copy", "reverse", "--from", three.url(), "--to", two.url(), "--job", "go");
    assertThat(elsewhere.exitCode()).isEqualTo(1);
    assertThat(elsewhere.err())
        .isEqualToNormalizingNewlines(
            "onehop: the source has no job go: the source of a reverse copy is the destination of a"
                + " finished copy\n");
    try (CopyControl control = CopyControl.connect(three.url(), settings -> {}, "go")) {
      try (Running back = new Running(reverse("go", two.url(), three.url()))) {
        await(back, control, phase(CopyPhase.INCREMENTAL).and(behind(0)));
        assertThat(back.copy.progress().notes()).isEmpty();
        // The number shows that the reverse copy has applied only the changes, and has not copied
        // all documents again.
        assertThat(back.copy.progress().eventsApplied()).isBetween(1L, DOCUMENTS - 1L);
      }
      now.getCollection("ranged").updateMany(Filters.lt("n", 50), Updates.inc("k", 1));
      assertRefused(reverse("go", two.url(), three.url()), "in phase INCREMENTAL: resume it");
      try (Running again = new Running(reverse("go", two.url(), three.url()).begin(Begin.RESUME))) {
        await(again, control, behind(0));
        now.getCollection("plain").insertOne(new Document("_id", "last").append("n", 99_999));
        control.finish();
        again.ended.join();
      }
    }
    CopyIT.assertSame(now, old);
    assertRefused(reverse("go", two.url(), three.url()), "was reversed already");

    // The third copy has the first direction again.
    old.getCollection("plain").deleteOne(new Document("_id", "last"));
    old.getCollection("ranged").insertOne(new Document("_id", "forth"));
    to.getDatabase("elsewhere").getCollection("docs").insertOne(new Document("_id", "go"));
    try (Running forward = new Running(reverse("go", three.url(), two.url()))) {
      finish(forward, two.url(), "go");
      assertThat(forward.copy.progress().notes())
          .anyMatch(note -> note.startsWith("the destination has had 1 inserts"));
    }
    CopyIT.assertSame(old, now);
    assertThat(old.getCollection("plain").find(new Document("_id", "last"))).isEmpty();
    assertThat(from.getDatabase("gone").listCollectionNames()).isEmpty();
    assertThat(to.getDatabase("go").listCollectionNames()).isEmpty();
  }

  private static void change(MongoDatabase now) {
    MongoCollection<Document> ranged = now.getCollection("ranged");
    ranged.deleteMany(Filters.and(Filters.gte("n", 100), Filters.lt("n", 150)));
    ranged.updateMany(Filters.lt("n", 100), Updates.set("added", Arrays.asList(1, 2, 3)));
    ranged.updateMany(Filters.lt("n", 50), Updates.popLast("added"));
    ranged.insertOne(new Document("_id", "new"));
    MongoCollection<Document> plain = now.getCollection("plain");
    plain.replaceOne(new Document("n", 3), new Document("n", 3).append("replaced", true));
    // The value 1 of a unique index moves from one document to another.
    plain.updateOne(new Document("n", 1), Updates.set("n", 100_001));
    plain.updateOne(new Document("n", 2), Updates.set("n", 1));
    plain.createIndex(new Document("k", 1).append("n", -1));
    plain.createIndex(new Document("code", 1), new IndexOptions().unique(true).sparse(true));
    now.runCommand(
        Document.parse("{collMod: 'plain', index: {name: 'when_1', expireAfterSeconds: 864000}}"));
    now.runCommand(Document.parse("{create: 'fresh', validator: {n: {$type: 'int'}}}"));
    now.getCollection("fresh").insertOne(new Document("_id", 1).append("n", 1));
    now.getCollection("dropped").drop();
    now.runCommand(Document.parse("{create: 'seen', viewOn: 'plain', pipeline: []}"));
  }

  @Test
  void readsDocumentsInIndexOrder() throws Exception {
    MongoDatabase ordered = from.getDatabase("ordered");
    three.shardCollection(
        "ordered.moving", BsonDocument.parse("{_id: 1}"), Numbered.splitAt(200, 400));
    List<Integer> values = new ArrayList<>(IntStream.range(0, DOCUMENTS).boxed().toList());
    Collections.shuffle(values, new Random(5));
    for (String name : List.of("moving", "still", "without")) {
      ordered
          .getCollection(name)
          .insertMany(
              IntStream.range(0, DOCUMENTS)
                  .mapToObj(
                      i ->
                          new Document("_id", i)
                              .append("k", values.get(i))
                              .append("payload", "x".repeat(100)))
                  .toList());
    }
    for (String name : List.of("moving", "still")) {
      ordered
          .getCollection(name)
          .createIndex(new Document("k", 1).append("n", -1), new IndexOptions().name("by_k"));
    }
    MongoCollection<Document> moving = ordered.getCollection("moving");
    // These documents are at the beginning and at the end of the index.
    moving.insertOne(new Document("_id", "none"));
    moving.insertOne(
        new Document("_id", "first").append("k", new MinKey()).append("n", new MaxKey()));
    moving.insertOne(
        new Document("_id", "last").append("k", new MaxKey()).append("n", new MinKey()));
    AtomicBoolean active = new AtomicBoolean(true);
    AtomicInteger moved = new AtomicInteger();
    CompletableFuture<Void> moves =
        CompletableFuture.runAsync(
            () -> {
              List<String> shards = new ArrayList<>(three.shardHosts().keySet());
              for (int i = 0; active.get(); i++) {
                three.moveRange(
                    "ordered.moving", BsonDocument.parse("{_id: 200}"), shards.get(i % 3));
                moved.incrementAndGet();
              }
            });
    CompletableFuture<Void> writes =
        CompletableFuture.runAsync(
            () -> {
              Random random = new Random(6);
              while (active.get()) {
                // Some documents get an earlier place in the index, which the copy has read
                // already.
                moving.updateOne(
                    new Document("_id", random.nextInt(DOCUMENTS)),
                    Updates.set("k", random.nextInt(DOCUMENTS)));
              }
            });
    CopyProgress done;
    try (Running running =
        new Running(
            following("ordered")
                .orderBy("by_k")
                .rangeBytes(8 << 10)
                .batchSize(20)
                .readersPerShard(1)
                .documentsPerSecond(1_000))) {
      try (CopyControl control = CopyControl.connect(two.url(), settings -> {}, "ordered")) {
        await(running, control, phase(CopyPhase.INCREMENTAL));
      }
      active.set(false);
      CompletableFuture.allOf(moves, writes).join();
      finish(running, two.url(), "ordered");
      done = running.copy.progress();
    } finally {
      active.set(false);
    }
    CopyIT.assertSame(ordered, to.getDatabase("ordered"));
    assertThat(done.notes())
        .contains("collections without the index by_k are read in another order: ordered.without");
    assertThat(done.ranges()).isGreaterThan(20);
    assertThat(moved.get()).isPositive();
    assertThat(stored("still")).isSorted().hasSize(DOCUMENTS);
    assertThat(stored("without")).hasSize(DOCUMENTS).isNotEqualTo(stored("still"));
  }

  /** The values of k, in the order of insertion. */
  private static List<Integer> stored(String collection) {
    return to.getDatabase("ordered")
        .getCollection(collection)
        .find()
        .hint(new Document("$natural", 1))
        .map(each -> each.getInteger("k"))
        .into(new ArrayList<>());
  }

  @Test
  void rejectsOrderByUnsuitableIndex() {
    MongoCollection<Document> docs = from.getDatabase("unsuitable").getCollection("docs");
    docs.insertOne(new Document("_id", 1).append("many", List.of(1, 2)).append("s", "text"));
    docs.createIndex(new Document("a", 1), new IndexOptions().name("sparse").sparse(true));
    docs.createIndex(
        new Document("b", 1),
        new IndexOptions()
            .name("partial")
            .partialFilterExpression(Document.parse("{b: {$gt: 1}}")));
    docs.createIndex(new Document("many", 1), new IndexOptions().name("array"));
    docs.createIndex(new Document("s", "text"), new IndexOptions().name("text"));
    docs.createIndex(new Document("c", "hashed"), new IndexOptions().name("hash"));
    docs.createIndex(
        new Document("d", 1),
        new IndexOptions().name("collated").collation(Collation.builder().locale("de").build()));
    Map<String, String> reasons =
        Map.of(
            "sparse", "is sparse",
            "partial", "is partial",
            "array", "has several entries",
            "{many: 1}", "has several entries",
            "text", "does not keep the order",
            "hash", "does not keep the order",
            "collated", "has a collation",
            "other", "no collection has the index other");
    reasons.forEach((index, why) -> assertRefused(following("unsuitable").orderBy(index), why));
    assertThat(to.getDatabase("unsuitable").listCollectionNames()).isEmpty();
    assertThatThrownBy(
            () ->
                following("unsuitable")
                    .orderBy("x")
                    .operations(EnumSet.of(CopyOperation.INSERT))
                    .build())
        .isInstanceOf(IllegalArgumentException.class);
  }
}
