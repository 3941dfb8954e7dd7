package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyProgress;
import dev.onehop.testbed.Testbed;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
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
import org.bson.types.ObjectId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Structure and documents of real clusters, copied to others while ranges move at both. */
class CopyIT {
  private static final int DOCUMENTS = Integer.getInteger("onehop.it.copy.documents", 4_000);

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

  /** Values of all types that {@code _id} may have. */
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

  private static List<BsonDocument> documents(int count) {
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
    from.getDatabase(names[0])
        .getCollection(names[1], BsonDocument.class)
        .insertMany(documents);
  }

  private static Map<BsonDocument, RawBsonDocument> all(MongoCollection<?> collection) {
    Map<BsonDocument, RawBsonDocument> all = new HashMap<>();
    for (RawBsonDocument each : collection.withDocumentClass(RawBsonDocument.class).find()) {
      BsonDocument id = new BsonDocument("_id", each.get("_id"));
      // A sharded collection may have an _id twice.
      assertThat(all.put(id, each)).as("twice: %s", id).isNull();
    }
    return all;
  }

  private static void assertSame(MongoDatabase one, MongoDatabase other) {
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
            assertThat(got.keySet()).as(name).isEqualTo(wanted.keySet());
            wanted.forEach(
                (id, document) ->
                    assertThat(got.get(id).getByteBuffer().array())
                        .as("%s %s", name, id)
                        .isEqualTo(document.getByteBuffer().array()));
          }
        });
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
  void everyKindOfCollectionComesAsItIs() throws InterruptedException {
    MongoDatabase shop = from.getDatabase("shop");
    three.shardCollection("shop.ranged", BsonDocument.parse("{_id: 1}"), Numbered.splitAt(500, 1500));
    three.shardHashedCollection("shop.hashed", BsonDocument.parse("{_id: 'hashed'}"), 6);
    insert("shop.ranged", documents(DOCUMENTS));
    insert("shop.hashed", documents(DOCUMENTS));
    insert("shop.plain", documents(DOCUMENTS));
    shop.getCollection("plain").createIndex(new Document("n", 1));
    shop.getCollection("plain")
        .createIndex(
            new Document("k", 1).append("n", -1),
            new com.mongodb.client.model.IndexOptions()
                .unique(true)
                .partialFilterExpression(Document.parse("{n: {$gte: 0}}")));
    shop.getCollection("hashed")
        .createIndex(
            new Document("when", 1),
            new com.mongodb.client.model.IndexOptions()
                .expireAfter(30L, java.util.concurrent.TimeUnit.DAYS));
    shop.runCommand(
        Document.parse(
            "{create: 'checked', validator: {n: {$type: 'int'}}, validationLevel: 'moderate',"
                + " collation: {locale: 'en', strength: 2}}"));
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
          new Document("t", new Date(1_700_000_000_000L + i * 60_000L))
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
    assertThat(
            to.getDatabase("shop").getCollection("ring").find().into(new ArrayList<>()))
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
    assertThat(done.rangesDone()).isEqualTo(done.ranges()).isGreaterThan(20);
    assertThat(done.rangesReadAgain()).isZero();
    assertThat(done.notes()).isEmpty();
  }
}
