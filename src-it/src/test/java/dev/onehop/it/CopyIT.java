package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.ReplaceOptions;
import dev.onehop.cli.OneHopCommand;
import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.CopyControl;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.progress.CopyProgress;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDecimal128;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.RawBsonDocument;
import org.bson.types.Decimal128;
import org.bson.types.MaxKey;
import org.bson.types.MinKey;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The structure and the documents of real clusters are copied to other clusters while ranges move
 * at both ends.
 */
@SharedReplicaSet
class CopyIT {
  private static final int DOCUMENTS = Integer.getInteger("onehop.it.copy.documents", 1_500);

  private static Testbed three;
  private static Testbed two;
  private static MongoClient from;
  private static MongoClient to;

  @BeforeAll
  static void start() {
    three = Testbed.builder(NearShards.topology("copy-from", 64, 3)).start();
    two = Testbed.builder(NearShards.topology("copy-to", 65, 2)).start();
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

  private static ClusterCopy.Builder copy(String database) {
    return ClusterCopy.builder(three.url(), two.url())
        .job(database)
        .include(List.of(database))
        .rangeBytes(64 << 10)
        .batchSize(100);
  }

  private static CopyProgress run(ClusterCopy.Builder builder) throws InterruptedException {
    try (ClusterCopy copy = builder.build()) {
      copy.run();
      return copy.progress();
    }
  }

  /**
   * A value for {@code _id}. Over all {@code i}, the values have all types that an {@code _id} may
   * have.
   */
  private static BsonValue id(int i, Random random) {
    return switch (i % 12) {
      case 0 -> new BsonInt32(i);
      case 1 -> new BsonInt64(i + (1L << 40));
      case 2 -> new BsonDouble(i + 0.5);
      case 3 -> new BsonDecimal128(Decimal128.parse(i + ".25"));
      case 4 -> new BsonString("user" + i + "é\u0000");
      case 5 -> new BsonObjectId(new ObjectId());
      case 6 -> new BsonBinary(new UUID(random.nextLong(), i));
      case 7 -> new BsonDateTime(random.nextLong() >> 20);
      case 8 -> new BsonTimestamp(i, 1);
      case 9 -> new BsonDocument("a", new BsonInt32(i)).append("b", new BsonString("x"));
      case 10 -> new BsonBinary((byte) 0, new byte[] {(byte) i, (byte) (i >> 8), 3});
      default -> new BsonDateTime(-i);
    };
  }

  static List<BsonDocument> documents(int count) {
    Random random = new Random(count);
    List<BsonDocument> documents = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] payload = new byte[150];
      random.nextBytes(payload);
      documents.add(
          new BsonDocument("_id", id(i, random))
              .append("n", new BsonInt32(i))
              .append("k", new BsonInt32(random.nextInt(1_000)))
              .append("payload", new BsonBinary(payload)));
    }
    documents.add(new BsonDocument("_id", new BsonMinKey()));
    documents.add(new BsonDocument("_id", BsonNull.VALUE));
    documents.add(new BsonDocument("_id", BsonBoolean.TRUE));
    return documents;
  }

  private static void insert(String namespace, List<BsonDocument> documents) {
    String[] names = namespace.split("\\.", 2);
    from.getDatabase(names[0]).getCollection(names[1], BsonDocument.class).insertMany(documents);
  }

  private static Map<BsonDocument, RawBsonDocument> all(MongoCollection<?> collection) {
    Map<BsonDocument, RawBsonDocument> all = new HashMap<>();
    for (RawBsonDocument each : collection.withDocumentClass(RawBsonDocument.class).find()) {
      BsonDocument id = new BsonDocument("_id", each.get("_id"));
      // A faulty copy could store an _id on two shards.
      assertThat(all.put(id, each)).as("twice: %s", id).isNull();
    }
    return all;
  }

  static void assertSame(MongoDatabase one, MongoDatabase other) {
    Map<String, Document> collections = new TreeMap<>();
    one.listCollections().forEach(each -> collections.put(each.getString("name"), each));
    Map<String, Document> others = new TreeMap<>();
    other.listCollections().forEach(each -> others.put(each.getString("name"), each));
    assertThat(others.keySet()).isEqualTo(collections.keySet());
    collections.forEach(
        (name, spec) -> {
          assertThat(others.get(name).get("type")).isEqualTo(spec.get("type"));
          assertThat(others.get(name).get("options")).as(name).isEqualTo(spec.get("options"));
          if (!spec.getString("type").equals("view") && !name.startsWith("system.")) {
            assertThat(indexes(other.getCollection(name)))
                .as(name)
                .isEqualTo(indexes(one.getCollection(name)));
          }
          if (!name.equals("system.views") && !spec.getString("type").equals("timeseries")) {
            Map<BsonDocument, RawBsonDocument> wanted = all(one.getCollection(name));
            Map<BsonDocument, RawBsonDocument> got = all(other.getCollection(name));
            assertThat(without(wanted, got)).as("missing in %s", name).isEmpty();
            assertThat(without(got, wanted)).as("extra in %s", name).isEmpty();
            wanted.forEach(
                (id, document) ->
                    assertThat(got.get(id).getByteBuffer().array())
                        .as("%s %s", name, id)
                        .isEqualTo(document.getByteBuffer().array()));
          }
        });
  }

  private static Set<BsonDocument> without(Map<BsonDocument, ?> all, Map<BsonDocument, ?> those) {
    Set<BsonDocument> rest = new HashSet<>(all.keySet());
    rest.removeAll(those.keySet());
    return rest;
  }

  private static Map<String, Document> indexes(MongoCollection<Document> of) {
    Map<String, Document> indexes = new TreeMap<>();
    of.listIndexes().forEach(each -> indexes.put(each.getString("name"), each));
    return indexes;
  }

  private static Document entry(MongoClient of, String namespace) {
    return of.getDatabase("config")
        .getCollection("collections")
        .find(new Document("_id", namespace))
        .first();
  }

  @Test
  void copiesEveryKindOfCollection() throws InterruptedException {
    MongoDatabase shop = from.getDatabase("shop");
    three.shardCollection(
        "shop.ranged", BsonDocument.parse("{_id: 1}"), Numbered.splitAt(500, 1500));
    three.shardHashedCollection("shop.hashed", BsonDocument.parse("{_id: 'hashed'}"), 6);
    insert("shop.ranged", documents(DOCUMENTS));
    insert("shop.hashed", documents(DOCUMENTS));
    insert("shop.plain", documents(DOCUMENTS));
    shop.getCollection("plain").createIndex(new Document("n", 1));
    shop.getCollection("plain")
        .createIndex(
            new Document("k", 1).append("n", -1),
            new IndexOptions()
                .unique(true)
                .partialFilterExpression(Document.parse("{n: {$gte: 0}}")));
    shop.getCollection("hashed")
        .createIndex(new Document("when", 1), new IndexOptions().expireAfter(30L, TimeUnit.DAYS));
    shop.runCommand(
        Document.parse(
            "{create: 'checked', validator: {n: {$type: 'int'}}, validationLevel: 'moderate',"
                + " collation: {locale: 'en', strength: 2}}"));
    shop.getCollection("checked")
        .createIndex(
            new Document("n", 1),
            new IndexOptions().collation(Collation.builder().locale("simple").build()));
    insert(
        "shop.checked",
        IntStream.range(0, 1_000)
            .mapToObj(
                i ->
                    new BsonDocument("_id", new BsonString((i % 2 == 0 ? "A" : "b") + i))
                        .append("n", new BsonInt32(i)))
            .toList());
    shop.runCommand(
        new Document("insert", "checked")
            .append("documents", List.of(new Document("_id", "not valid")))
            .append("bypassDocumentValidation", true));
    shop.runCommand(Document.parse("{create: 'ring', capped: true, size: 65536, max: 500}"));
    insert("shop.ring", documents(600).subList(0, 600));
    shop.runCommand(
        Document.parse("{create: 'seen', viewOn: 'plain', pipeline: [{$match: {n: {$lt: 50}}}]}"));
    shop.runCommand(
        Document.parse(
            "{create: 'weather', timeseries: {timeField: 't', metaField: 'at', granularity:"
                + " 'minutes'}}"));
    List<Document> measured = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      measured.add(
          new Document("t", new BsonDateTime(1_700_000_000_000L + i * 60_000L))
              .append("at", "station" + i % 5)
              .append("v", i));
    }
    shop.getCollection("weather").insertMany(measured);

    CopyProgress done = run(copy("shop"));

    assertSame(shop, to.getDatabase("shop"));
    assertThat(
            to.getDatabase("shop").getCollection("weather").find().into(new ArrayList<>()).stream()
                .map(Document::toJson)
                .sorted()
                .toList())
        .isEqualTo(
            shop.getCollection("weather").find().into(new ArrayList<>()).stream()
                .map(Document::toJson)
                .sorted()
                .toList());
    assertThat(to.getDatabase("shop").getCollection("ring").find().into(new ArrayList<>()))
        .isEqualTo(shop.getCollection("ring").find().into(new ArrayList<>()));
    for (String sharded : List.of("shop.ranged", "shop.hashed")) {
      assertThat(entry(to, sharded).get("key")).isEqualTo(entry(from, sharded).get("key"));
      Map<String, Integer> owners = new TreeMap<>();
      to.getDatabase("config")
          .getCollection("chunks")
          .find(new Document("uuid", entry(to, sharded).get("uuid")))
          .forEach(chunk -> owners.merge(chunk.getString("shard"), 1, Integer::sum));
      assertThat(owners).as(sharded).hasSize(2);
      assertThat(Math.abs(owners.get("one") - owners.get("two"))).as("%s", owners).isLessThan(2);
    }
    assertThat(done.rangesDone()).isEqualTo(done.ranges()).isGreaterThan(10);
    assertThat(done.rangesReadAgain()).isZero();
    assertThat(done.notes()).isEmpty();
  }

  @Test
  @Tag("nightly") // CopySoakIT covers this, too
  void repeatedlyKilledCopyEqualsSource() throws Exception {
    int kills = Integer.getInteger("onehop.it.copy.kills", 2);
    MongoDatabase busy = from.getDatabase("busy");
    three.shardCollection(
        "busy.ranged", BsonDocument.parse("{_id: 1}"), Numbered.splitAt(1_000, 2_000));
    three.shardHashedCollection("busy.hashed", BsonDocument.parse("{_id: 'hashed'}"), 6);
    for (String name : BUSY) {
      insert("busy." + name, documents(DOCUMENTS));
    }
    busy.getCollection("plain")
        .createIndex(
            new Document("n", 1),
            new IndexOptions()
                .unique(true)
                .partialFilterExpression(Document.parse("{n: {$exists: true}}")));
    AtomicInteger moves = new AtomicInteger();
    List<Throwable> failures = new CopyOnWriteArrayList<>();
    AtomicInteger running = new AtomicInteger(1);
    List<Thread> threads = new ArrayList<>();
    threads.add(new Thread(() -> move(three, "busy.ranged", running, moves, failures)));
    threads.add(new Thread(() -> move(two, "busy.ranged", running, moves, failures)));
    for (int i = 0; i < 2; i++) {
      Random random = new Random(i);
      threads.add(new Thread(() -> write(busy, random, running, failures)));
    }
    Path log = Files.createTempFile("onehop-copy", ".log");
    Random random = new Random(7);
    Process frozen = null;
    Process process =
        CopyMain.start(three.url(), two.url(), "busy", ClusterCopy.Begin.NEW, true, log);
    try {
      threads.forEach(Thread::start);
      CopyControl control = CopyControl.connect(two.url(), settings -> {}, "busy");
      // Until the copy has begun, there is no job, and the status is an error.
      Awaitility.await()
          .atMost(Duration.ofMinutes(2))
          .ignoreExceptions()
          .until(() -> control.status().containsKey("phase"));
      List<String> phases = List.of("STRUCTURE", "FULL", "FULL", "INCREMENTAL");
      for (int kill = 0; kill < kills; kill++) {
        long term = kill + 1L;
        CopyPhase least = CopyPhase.valueOf(phases.get((kill * phases.size() + 3) / kills));
        Awaitility.await()
            .atMost(Duration.ofMinutes(5))
            .until(
                () -> {
                  BsonDocument status = control.status();
                  return status.getNumber("term", new BsonInt32(0)).longValue() == term
                      && CopyPhase.valueOf(status.getString("phase").getValue()).compareTo(least)
                          >= 0;
                });
        if (least == CopyPhase.FULL && kill % 2 == 0) {
          Awaitility.await()
              .atMost(Duration.ofMinutes(5))
              .until(
                  () ->
                      control
                              .status()
                              .getDocument("progress", new BsonDocument())
                              .getNumber("rangesDone", new BsonInt32(0))
                              .longValue()
                          > 0);
        } else {
          RealTime.pass(Duration.ofMillis(random.nextInt(3_000)));
        }
        System.err.println("killed at " + control.status());
        if (kill == (kills - 1) / 2) {
          // This process is stopped, so it seems dead. It continues later.
          signal(process, "-STOP");
          frozen = process;
        } else {
          process.destroyForcibly().waitFor();
        }
        process =
            CopyMain.start(three.url(), two.url(), "busy", ClusterCopy.Begin.RESUME, true, log);
      }
      Awaitility.await()
          .atMost(Duration.ofMinutes(5))
          .until(() -> control.status().getString("phase").getValue().equals("INCREMENTAL"));
      RealTime.pass(Duration.ofSeconds(2));
      if (frozen != null) {
        signal(frozen, "-CONT");
        assertThat(frozen.waitFor(2, TimeUnit.MINUTES)).isTrue();
        assertThat(frozen.exitValue()).isEqualTo(1);
        assertThat(Files.readString(log)).contains("has taken the job over");
      }
      running.set(0);
      for (Thread thread : threads) {
        thread.join();
      }
      control.finish();
      control.close();
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
      List<String> lines = Files.readAllLines(log);
      System.err.println(moves + " moves, " + lines.get(lines.size() - 1));
      assertThat(process.exitValue()).as("%s", lines).isZero();
      assertThat(failures).isEmpty();
      assertThat(moves.get()).isPositive();
      assertSame(busy, to.getDatabase("busy"));
    } finally {
      running.set(0);
      process.destroyForcibly();
      if (frozen != null) {
        frozen.destroyForcibly();
      }
      Files.delete(log);
    }
  }

  @Tag("full")
  @Test
  void shardKeyMayBePartOfId() throws Exception {
    MongoDatabase source = from.getDatabase("inside");
    List<BsonDocument> points =
        IntStream.of(300, 700).mapToObj(h -> new BsonDocument("_id.h", new BsonInt32(h))).toList();
    three.shardCollection("inside.ranged", BsonDocument.parse("{'_id.h': 1}"), points);
    three.shardHashedCollection("inside.hashed", BsonDocument.parse("{'_id.h': 'hashed'}"), 6);
    three.shardCollection(
        "inside.both",
        BsonDocument.parse("{'_id.h': 1, k: 1}"),
        points.stream().map(point -> point.clone().append("k", new BsonInt32(5))).toList());
    List<String> names = List.of("ranged", "hashed", "both");
    for (String name : names) {
      insert("inside." + name, IntStream.range(0, 400).mapToObj(CopyIT::inside).toList());
    }
    Path log = Files.createTempFile("onehop-copy", ".log");
    Process process =
        CopyMain.start(three.url(), two.url(), "inside", ClusterCopy.Begin.NEW, true, log);
    try (CopyControl control = CopyControl.connect(two.url(), settings -> {}, "inside")) {
      AtomicInteger next = new AtomicInteger(400);
      Random random = new Random(1);
      Awaitility.await()
          .atMost(Duration.ofMinutes(1))
          .until(
              () -> {
                assertThat(process.isAlive()).as("%s", Files.readString(log)).isTrue();
                for (String name : names) {
                  changeInside(source.getCollection(name, BsonDocument.class), next, random);
                }
                return phase(control).equals("INCREMENTAL");
              });
      for (int i = 0; i < 40 && process.isAlive(); i++) {
        for (String name : names) {
          changeInside(source.getCollection(name, BsonDocument.class), next, random);
        }
      }
      if (process.isAlive()) {
        control.finish();
      }
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
      assertThat(process.exitValue()).as("%s", Files.readString(log)).isZero();
      assertSame(source, to.getDatabase("inside"));
      Printed verified =
          onehop("verify", "--from", three.url(), "--to", two.url(), "--include", "inside");
      assertThat(verified.exitCode()).as(verified.err()).isZero();
    } finally {
      process.destroyForcibly();
      Files.delete(log);
    }
  }

  private static BsonDocument inside(int i) {
    return new BsonDocument(
            "_id",
            new BsonDocument("s", new BsonString("x" + i))
                .append("h", new BsonInt32(i * 7 % 1_000)))
        .append("k", new BsonInt32(i % 10))
        .append("payload", new BsonString("x".repeat(150)));
  }

  private static void changeInside(
      MongoCollection<BsonDocument> collection, AtomicInteger next, Random random) {
    collection.insertOne(inside(next.incrementAndGet()));
    BsonDocument[] any = new BsonDocument[4];
    Arrays.setAll(
        any,
        i -> {
          BsonDocument document = inside(random.nextInt(next.get()));
          return new BsonDocument("_id.h", document.getDocument("_id").get("h"))
              .append("_id", document.get("_id"))
              .append("k", document.get("k"));
        });
    collection.updateOne(any[0], Document.parse("{$inc: {n: 1}}"));
    collection.updateOne(any[1], Document.parse("{$unset: {payload: 1}, $set: {m: [1, 2]}}"));
    collection.replaceOne(
        any[2],
        new BsonDocument("_id", any[2].get("_id"))
            .append("k", any[2].get("k"))
            .append("r", new BsonInt32(1)));
    collection.deleteOne(any[3]);
  }

  /**
   * Capped collections get more documents than they keep, both during the full copy and while the
   * copy is paused.
   */
  @Test
  @Tag("nightly") // takes minutes
  void cappedCollectionsKeepTheirDocumentsAndTheirOrder() throws Exception {
    int rounds = Integer.getInteger("onehop.it.copy.capped", 1);
    for (int round = 0; round < rounds; round++) {
      copyCapped("capped" + round, new Random(round));
    }
  }

  private static final List<String> CAPPED = List.of("most", "size");

  private static void copyCapped(String database, Random random) throws Exception {
    MongoDatabase source = from.getDatabase(database);
    source.runCommand(Document.parse("{create: 'most', capped: true, size: 1048576, max: 500}"));
    source.runCommand(Document.parse("{create: 'size', capped: true, size: 65536}"));
    AtomicInteger last = new AtomicInteger();
    fill(source, last, 700);
    Path log = Files.createTempFile("onehop-copy", ".log");
    Process first =
        CopyMain.start(three.url(), two.url(), database, ClusterCopy.Begin.NEW, true, log);
    Process process = first;
    try (CopyControl control = CopyControl.connect(two.url(), settings -> {}, database)) {
      Awaitility.await()
          .atMost(Duration.ofMinutes(2))
          .until(
              () -> {
                assertThat(first.isAlive()).as("%s", Files.readString(log)).isTrue();
                changeCapped(source, last, random);
                return phase(control).equals("INCREMENTAL");
              });
      control.pause();
      source.runCommand(Document.parse("{create: 'later', capped: true, size: 65536, max: 100}"));
      MongoCollection<Document> later = source.getCollection("later");
      List<Document> others = new ArrayList<>();
      for (int i = 0; i < 26; i++) {
        later.insertMany(
            IntStream.range(i * 20, i * 20 + 20).mapToObj(n -> new Document("_id", n)).toList());
        later.deleteOne(new Document("_id", i * 20 + 5));
        fill(source, last, 50);
        changeCapped(source, last, random);
        for (int n = 0; n < 1_000; n++) {
          others.add(new Document("_id", i * 1_000 + n));
        }
        source.getCollection("others").insertMany(others);
        others.clear();
      }
      control.proceed();
      Awaitility.await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> to.getDatabase(database).getCollection("others").countDocuments() > 2_000);
      process.destroyForcibly().waitFor();
      process =
          CopyMain.start(three.url(), two.url(), database, ClusterCopy.Begin.RESUME, true, log);
      Awaitility.await()
          .atMost(Duration.ofMinutes(2))
          .until(
              () -> {
                changeCapped(source, last, random);
                return control.status().getNumber("term").longValue() == 2
                    && phase(control).equals("INCREMENTAL");
              });
      control.finish();
      assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
      List<String> lines = Files.readAllLines(log);
      assertThat(process.exitValue()).as("%s", lines).isZero();
      System.err.printf("%s: %d inserted, %s%n", database, last.get(), lines.get(lines.size() - 1));
      for (String name : List.of("most", "size", "later")) {
        List<RawBsonDocument> wanted = inNaturalOrder(source.getCollection(name));
        List<RawBsonDocument> got = inNaturalOrder(to.getDatabase(database).getCollection(name));
        assertThat(ids(got)).as(name).isEqualTo(ids(wanted)).hasSizeGreaterThan(90);
        assertThat(got).as(name).isEqualTo(wanted);
      }
      assertSame(source, to.getDatabase(database));
    } finally {
      process.destroyForcibly();
      Files.delete(log);
    }
  }

  /** The phase of a job; empty before the job has begun. */
  private static String phase(CopyControl control) throws InterruptedException {
    try {
      return control.status().getString("phase", new BsonString("")).getValue();
    } catch (CopyException notYet) {
      return "";
    }
  }

  static List<RawBsonDocument> inNaturalOrder(MongoCollection<?> collection) {
    return collection
        .withDocumentClass(RawBsonDocument.class)
        .find()
        .hint(new Document("$natural", 1))
        .into(new ArrayList<>());
  }

  private static List<Integer> ids(List<RawBsonDocument> documents) {
    return documents.stream().map(document -> document.getInt32("_id").getValue()).toList();
  }

  private static void fill(MongoDatabase source, AtomicInteger last, int count) {
    List<Document> documents = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int id = last.incrementAndGet();
      documents.add(
          new Document("_id", id).append("n", 0).append("payload", "x".repeat(50 + id % 90)));
    }
    CAPPED.forEach(name -> source.getCollection(name).insertMany(documents));
  }

  /**
   * Inserts documents. Also changes a document, removes one, and inserts a removed one again. Each
   * of these may be an old or a new document.
   */
  private static void changeCapped(MongoDatabase source, AtomicInteger last, Random random) {
    fill(source, last, 20);
    for (String name : CAPPED) {
      MongoCollection<Document> collection = source.getCollection(name);
      int id = last.get() - random.nextInt(300);
      collection.updateOne(new Document("_id", id), Document.parse("{$inc: {n: 1}}"));
      collection.deleteOne(new Document("_id", last.get() - random.nextInt(300)));
      Document again = collection.findOneAndDelete(new Document("_id", id - 1));
      if (again != null) {
        fill(source, last, 3);
        collection.insertOne(again);
      }
      fill(source, last, 2);
      collection.updateMany(
          new Document("_id", new Document("$gt", last.get() - 5)),
          Document.parse("{$inc: {n: 1}}"));
    }
  }

  @Tag("full")
  @Test
  void copiesBetweenReplicaSetsAndShardedClusters(RealMongod set, RealMongod other)
      throws Exception {
    try (MongoClient client = MongoClients.create(set.url());
        MongoClient last = MongoClients.create(other.url())) {
      MongoDatabase first = client.getDatabase("rs");
      first.getCollection("docs", BsonDocument.class).insertMany(documents(DOCUMENTS));
      // This collection is unsharded. A sharded collection cannot have a document with the shard
      // key MaxKey.
      first
          .getCollection("docs", BsonDocument.class)
          .insertOne(new BsonDocument("_id", new BsonMaxKey()));
      first.getCollection("docs").createIndex(new Document("k", 1).append("n", 1));
      run(
          ClusterCopy.builder(set.url(), two.url())
              .job("rs")
              .include(List.of("rs"))
              .rename("rs", "rs2")
              .rangeBytes(64 << 10));
      assertSame(first, to.getDatabase("rs2"));

      three.shardCollection("back.ranged", BsonDocument.parse("{k: 1}"), keys(300, 600));
      insert("back.ranged", documents(DOCUMENTS).subList(0, DOCUMENTS));
      CopyProgress done =
          run(
              ClusterCopy.builder(three.url(), other.url())
                  .job("back")
                  .include(List.of("back"))
                  .filter("back.ranged", Document.parse("{n: {$gte: 100}}"))
                  .transform(
                      (namespace, document) ->
                          document.getInt32("n").getValue() < 200
                              ? null
                              : new BsonDocument("_id", document.get("_id"))
                                  .append("n", document.get("n")))
                  .rangeBytes(64 << 10));
      assertThat(done.documentsDone()).isEqualTo(DOCUMENTS - 200);
      assertThat(
              last
                  .getDatabase("back")
                  .getCollection("ranged")
                  .find()
                  .into(new ArrayList<>())
                  .stream()
                  .map(each -> each.getInteger("n"))
                  .sorted()
                  .toList())
          .isEqualTo(IntStream.range(200, DOCUMENTS).boxed().toList());
    }
  }

  /** The output of a command, and its exit code. */
  record Printed(int exitCode, String out, String err) {}

  static Printed onehop(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exitCode =
        OneHopCommand.commandLine()
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(arguments);
    return new Printed(exitCode, out.toString(), err.toString());
  }

  @Tag("full")
  @Test
  void commandCopiesAndReportsProgress() throws Exception {
    insert("command.docs", documents(1_000));
    Printed done =
        onehop(
            "copy",
            "--from",
            three.url(),
            "--to",
            two.url(),
            "--job",
            "command",
            "--include",
            "command",
            "--only",
            "structure,full,indexes",
            "--json");
    assertThat(done.exitCode()).as(done.err()).isZero();
    Document reported = Document.parse(done.out());
    assertThat(reported.getString("phase")).isEqualTo("done");
    assertThat(reported.getInteger("documentsDone")).isEqualTo(1_003);
    assertThat(reported.getInteger("rangesReadAgain")).isZero();
    assertThat(reported.get("seconds", Document.class))
        .containsOnlyKeys("start", "structure", "full", "indexes", "finish");
    assertThat(reported.getDouble("documentsPerSecond")).isPositive();
    assertSame(from.getDatabase("command"), to.getDatabase("command"));
    Printed status = onehop("copy", "status", "--to", two.url(), "--job", "command", "--json");
    Document stored = Document.parse(status.out());
    assertThat(stored.getString("phase")).isEqualTo("DONE");
    assertThat(stored.get("progress", Document.class).get("seconds", Document.class).keySet())
        .isEqualTo(reported.get("seconds", Document.class).keySet());
    assertThat(onehop("copy", "status", "--to", two.url(), "--job", "command").out())
        .containsPattern("job +\"command\"\nphase +\"DONE\"");

    for (String action : List.of("pause", "finish")) {
      Printed outcome = onehop("copy", action, "--to", two.url(), "--job", "command");
      assertThat(outcome.exitCode()).isZero();
      assertThat(outcome.err().contains("is paused")).isEqualTo(action.equals("finish"));
    }

    Printed again =
        onehop(
            "copy",
            "--from",
            three.url(),
            "--to",
            two.url(),
            "--job",
            "command",
            "--include",
            "command");
    assertThat(again.exitCode()).isEqualTo(1);
    assertThat(again.err().lines()).singleElement().asString().contains("has the job command");
    Printed nothing =
        onehop("copy", "--from", three.url(), "--to", two.url(), "--job", "no", "--include", "no");
    assertThat(nothing.exitCode()).isEqualTo(1);
    assertThat(nothing.err().lines())
        .singleElement()
        .asString()
        .contains("the selection includes no collection");
    assertThat(onehop("copy", "--from", three.url()).exitCode()).isEqualTo(2);
    assertThat(
            onehop("copy", "--from", three.url(), "--to", two.url(), "--operations", "upsert")
                .err())
        .isEqualToNormalizingNewlines(
            "onehop: --operations takes insert, update, delete, ddl, not 'upsert'\n");
    assertThat(onehop("copy", "finish", "--to", two.url(), "--job", "none").err())
        .isEqualToNormalizingNewlines("onehop: the destination has no job none\n");
  }

  @Test
  void rejectsFinishOfJobWithoutProcess() {
    MongoCollection<Document> jobs =
        to.getDatabase(ClusterCopy.STATE_DATABASE).getCollection("jobs");
    Instant now = Instant.now();
    Instant later = now.plus(Duration.ofHours(1));
    jobs.insertMany(
        List.of(
            new Document("_id", "given-up").append("owner", null).append("until", later),
            new Document("_id", "killed").append("owner", "a").append("until", now),
            new Document("_id", "runs").append("owner", "a").append("until", later)));
    jobs.updateMany(
        new Document("_id", new Document("$in", List.of("given-up", "killed", "runs"))),
        new Document("$set", new Document("phase", "FULL").append("term", 1L)));
    for (String job : List.of("given-up", "killed")) {
      Printed finish = onehop("copy", "finish", "--to", two.url(), "--job", job);
      assertThat(finish.exitCode()).isEqualTo(1);
      assertThat(finish.err())
          .isEqualToNormalizingNewlines(
              "onehop: no process runs the job %s now: it finishes after 'copy --resume'\n"
                  .formatted(job));
      Printed continued = onehop("copy", "continue", "--to", two.url(), "--job", job);
      assertThat(continued.exitCode()).isEqualTo(1);
      assertThat(continued.err())
          .isEqualToNormalizingNewlines(
              "onehop: no process runs the job %s now: it continues after 'copy --resume'\n"
                  .formatted(job));
    }
    assertThat(onehop("copy", "finish", "--to", two.url(), "--job", "runs"))
        .isEqualTo(new Printed(0, "", ""));
    assertThat(jobs.countDocuments(new Document("finish", true))).isGreaterThanOrEqualTo(3);
  }

  private static List<BsonDocument> keys(int... points) {
    return IntStream.of(points)
        .mapToObj(point -> new BsonDocument("k", new BsonInt32(point)))
        .toList();
  }

  @Test
  void copiesZonesWithShardsAtDestination() throws InterruptedException {
    MongoDatabase here = from.getDatabase("admin");
    MongoDatabase there = to.getDatabase("admin");
    here.runCommand(Document.parse("{addShardToZone: 'three', zone: 'EU'}"));
    here.runCommand(Document.parse("{addShardToZone: 'one', zone: 'NO'}"));
    there.runCommand(Document.parse("{addShardToZone: 'two', zone: 'EU'}"));
    here.runCommand(
        Document.parse("{shardCollection: 'zoned.docs', key: {c: 1, _id: 1}, unique: true}"));
    for (String zone : List.of("EU", "NO")) {
      here.runCommand(
          new Document("updateZoneKeyRange", "zoned.docs")
              .append("min", new Document("c", zone).append("_id", new MinKey()))
              .append("max", new Document("c", zone).append("_id", new MaxKey()))
              .append("zone", zone));
    }
    List<BsonDocument> documents = documents(1_000);
    String[] values = {"EU", "NO", "AT", "ZZ"};
    for (int i = 0; i < documents.size(); i++) {
      documents.get(i).append("c", new BsonString(values[i % values.length]));
    }
    insert("zoned.docs", documents);

    CopyProgress done = run(copy("zoned"));

    assertSame(from.getDatabase("zoned"), to.getDatabase("zoned"));
    assertThat(done.notes()).singleElement().asString().contains("the ranges of zone NO");
    Document entry = entry(to, "zoned.docs");
    assertThat(entry.getBoolean("unique")).isTrue();
    List<Document> ofZone =
        to.getDatabase("config")
            .getCollection("chunks")
            .find(new Document("uuid", entry.get("uuid")).append("min.c", "EU"))
            .into(new ArrayList<>());
    assertThat(ofZone).isNotEmpty();
    for (Document chunk : ofZone) {
      if (chunk.get("max", Document.class).get("c").equals("EU")) {
        assertThat(chunk.getString("shard")).isEqualTo("two");
      }
    }
  }

  @Tag("full")
  @Test
  void copiesFiveHundredCollectionsToReplicaSet(RealMongod set) throws InterruptedException {
    MongoDatabase many = from.getDatabase("many");
    three.shardCollection("many.c0", BsonDocument.parse("{_id: 1}"), Numbered.splitAt(50, 500));
    insert("many.c0", documents(DOCUMENTS));
    for (int i = 1; i < 500; i++) {
      many.getCollection("c" + i).insertOne(new Document("_id", i).append("n", -i));
      if (i % 50 == 0) {
        many.getCollection("c" + i).createIndex(new Document("n", 1));
      }
    }
    CopyProgress done =
        run(
            ClusterCopy.builder(three.url(), set.url())
                .job("many")
                .include(List.of("many"))
                .rangeBytes(64 << 10));
    assertThat(done.collections()).isEqualTo(500);
    assertThat(done.documentsDone()).isEqualTo(DOCUMENTS + 3 + 499);
    assertThat(done.notes()).isEmpty();
    try (MongoClient to = MongoClients.create(set.url())) {
      assertSame(many, to.getDatabase("many"));
    }
  }

  @Test
  void reportsAllMissingPrivilegesTogether() {
    try (RealMongod set = RealMongod.startWithAuthentication();
        RealMongod other = RealMongod.startWithAuthentication()) {
      for (RealMongod each : List.of(set, other)) {
        try (MongoClient admin =
            MongoClients.create(as(each, RealMongod.ADMIN, RealMongod.PASSWORD))) {
          admin.getDatabase("rights").getCollection("docs").insertOne(new Document("_id", 1));
          admin
              .getDatabase("admin")
              .runCommand(
                  new Document("createUser", "reader")
                      .append("pwd", "a secret")
                      .append(
                          "roles", List.of(new Document("role", "read").append("db", "rights"))));
        }
      }
      assertThatThrownBy(
              () ->
                  run(
                      ClusterCopy.builder(
                              as(set, "reader", "a secret"), as(other, "reader", "a secret"))
                          .job("rights")
                          .include(List.of("rights"))))
          .isInstanceOf(CopyException.class)
          .hasMessageContaining("insert, update, remove, createCollection")
          .hasMessageContaining("on rights at the destination")
          .hasMessageContaining("on onehop_copy at the destination")
          .hasMessageNotContaining("at the source")
          .hasMessageNotContaining("secret");
    }
  }

  static String as(RealMongod mongod, String user, String password) {
    return mongod
        .url()
        .replace(
            "mongodb://",
            "mongodb://"
                + user
                + ":"
                + URLEncoder.encode(password, StandardCharsets.UTF_8).replace("+", "%20")
                + "@");
  }

  @Tag("full")
  @Test
  void overwriteReplacesPreviousCopy() throws InterruptedException {
    insert("again.docs", documents(500));
    run(copy("again"));
    from.getDatabase("again")
        .getCollection("docs")
        .deleteMany(new Document("n", new Document("$lt", 100)));
    assertThatThrownBy(() -> run(copy("again")))
        .isInstanceOf(CopyException.class)
        .hasMessageContaining("has the job again already");
    run(copy("again").begin(ClusterCopy.Begin.OVERWRITE));
    assertSame(from.getDatabase("again"), to.getDatabase("again"));
  }

  private static final List<String> BUSY = List.of("ranged", "hashed", "plain");

  private static void signal(Process process, String signal)
      throws IOException, InterruptedException {
    assertThat(new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor())
        .isZero();
  }

  private static void move(
      Testbed testbed,
      String namespace,
      AtomicInteger running,
      AtomicInteger moves,
      List<Throwable> failures) {
    List<String> shards = new ArrayList<>(testbed.shardHosts().keySet());
    MongoClient client = testbed == three ? from : to;
    Random random = new Random(3);
    while (running.get() == 1) {
      try {
        Document entry = entry(client, namespace);
        if (entry == null) {
          RealTime.pass(Duration.ofMillis(200));
          continue;
        }
        List<Document> chunks =
            client
                .getDatabase("config")
                .getCollection("chunks")
                .find(new Document("uuid", entry.get("uuid")))
                .into(new ArrayList<>());
        Document chunk = chunks.get(random.nextInt(chunks.size()));
        testbed.moveRange(
            namespace,
            chunk.get("min", Document.class).toBsonDocument(),
            shards.get(random.nextInt(shards.size())));
        moves.incrementAndGet();
        RealTime.pass(Duration.ofMillis(300));
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException e) {
        // A TestbedException is expected: the range cannot move now, or was split in the meantime.
        if (!(e instanceof TestbedException)) {
          failures.add(e);
          return;
        }
      }
    }
  }

  private static void write(
      MongoDatabase database, Random random, AtomicInteger running, List<Throwable> failures) {
    int next = 1_000_000 + random.nextInt(1 << 20) * 1_000;
    while (running.get() == 1) {
      MongoCollection<Document> collection =
          database.getCollection(BUSY.get(random.nextInt(BUSY.size())));
      int i = random.nextInt(DOCUMENTS / 12) * 12;
      Document one = new Document("_id", i);
      try {
        switch (random.nextInt(5)) {
          case 0 -> collection.insertOne(new Document("_id", next).append("n", next++));
          case 1 -> collection.deleteOne(one);
          case 2 ->
              collection.replaceOne(
                  one,
                  new Document("n", i).append("r", random.nextInt()),
                  new ReplaceOptions().upsert(true));
          case 3 -> collection.updateOne(one, new Document("$inc", new Document("c", 1)));
          default ->
              collection.updateOne(
                  one,
                  new Document("$set", new Document("s.x", random.nextInt()))
                      .append("$unset", new Document("payload", 1)));
        }
        RealTime.pass(Duration.ofMillis(5));
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException e) {
        failures.add(e);
        return;
      }
    }
  }
}
