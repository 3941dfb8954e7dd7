package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.InsertManyOptions;
import dev.onehop.testbed.evidence.Placement;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import dev.onehop.testbed.topology.Topology;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDecimal128;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.types.Decimal128;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Compares the owners that the module core predicts with the servers, for ten thousand random
 * documents per collection. Each document must be stored on its predicted owner. The shards' own
 * ownership filters must give the same numbers of documents.
 */
@ShardedCluster
class CoreAgreesWithServerIT {
  private static final int DOCUMENTS = 10_000;
  private static final long SEED = Long.getLong("onehop.seed", System.nanoTime());

  private static TestCluster cluster;

  private final Random random = new Random(SEED);

  @BeforeAll
  static void start(SharedCluster shared) {
    System.out.println("CoreAgreesWithServerIT: -Donehop.seed=" + SEED);
    cluster = TestCluster.shared(shared, Topology.named("single-host"), "it");
    var unused = cluster.testbed("shards' own ownership filters");
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @Test
  void rangedKeyOfMixedTypes() {
    List<BsonDocument> points = new ArrayList<>();
    for (BsonValue point :
        List.of(
            new BsonNull(),
            new BsonInt32(-1_000),
            new BsonDouble(0.5),
            new BsonInt64(1L << 53),
            new BsonString(""),
            new BsonString("m"),
            new BsonDocument(),
            new BsonBinary(new byte[0]),
            new BsonObjectId(new ObjectId("7fffffffffffffffffffffff")),
            BsonBoolean.TRUE,
            new BsonDateTime(0))) {
      points.add(new BsonDocument("k", point));
    }
    cluster.shardCollection(
        cluster.namespace("ranged"), new BsonDocument("k", new BsonInt32(1)), points);

    insertAndCompare("ranged");
  }

  @Test
  void hashedKey() {
    cluster.shardHashedCollection(
        cluster.namespace("hashed"), new BsonDocument("k", new BsonString("hashed")), 30);

    insertAndCompare("hashed");
  }

  @Test
  void compoundKeyWithDottedPath() {
    List<BsonDocument> points = new ArrayList<>();
    for (int i = -5; i <= 5; i++) {
      points.add(new BsonDocument("a.b", new BsonInt32(i)).append("k", new BsonString("g")));
    }
    cluster.shardCollection(
        cluster.namespace("compound"),
        new BsonDocument("a.b", new BsonInt32(1)).append("k", new BsonInt32(1)),
        points);

    insertAndCompare("compound");
  }

  private void insertAndCompare(String name) {
    List<BsonDocument> documents = new ArrayList<>(DOCUMENTS);
    for (int i = 0; i < DOCUMENTS; i++) {
      documents.add(document(i));
    }
    try (MongoClient client = MongoClients.create(cluster.url())) {
      MongoCollection<BsonDocument> collection =
          client.getDatabase(cluster.database()).getCollection(name, BsonDocument.class);
      collection.insertMany(documents, new InsertManyOptions().ordered(false));
    }

    Placement placement = cluster.testbed("shards").evidence(cluster.namespace(name)).placement();

    assertThat(placement.documents()).isEqualTo(DOCUMENTS);
    assertThat(placement.misplaced()).as("examples: %s", placement.examples()).isZero();
    assertThat(placement.owned())
        .as("what the shards call their own")
        .isEqualTo(placement.stored());
    assertThat(placement.stored().values()).allMatch(count -> count > 0);
  }

  private BsonDocument document(int i) {
    BsonDocument document =
        new BsonDocument("_id", new BsonInt32(i))
            .append("a", new BsonDocument("b", new BsonInt32(random.nextInt(-8, 8))));
    // Some documents lack the field k, which then counts as null.
    return random.nextInt(50) == 0 ? document : document.append("k", value(0));
  }

  private BsonValue value(int depth) {
    return switch (random.nextInt(depth == 0 ? 14 : 12)) {
      case 0 -> new BsonInt32(random.nextInt());
      case 1 -> new BsonInt64(random.nextLong());
      case 2 -> new BsonDouble(Double.longBitsToDouble(random.nextLong()));
      case 3 -> new BsonDouble(random.nextInt(-3, 4) / 2.0);
      case 4 ->
          new BsonDecimal128(
              Decimal128.fromIEEE754BIDEncoding(
                  random.nextLong() & 0x7fffffffffffffffL, random.nextLong()));
      case 5 -> new BsonDecimal128(Decimal128.parse(random.nextInt(-30, 30) + "E-1"));
      case 6, 7 -> new BsonString(text());
      case 8 -> new BsonObjectId(new ObjectId(bytes(12)));
      case 9 -> random.nextBoolean() ? BsonBoolean.TRUE : BsonBoolean.FALSE;
      case 10 -> new BsonDateTime(random.nextLong() >> random.nextInt(64));
      case 11 -> new BsonTimestamp(random.nextLong() | 1L);
      case 12 -> new BsonBinary((byte) random.nextInt(3, 6), bytes(16));
      default -> new BsonDocument("x", value(depth + 1)).append("y", value(depth + 1));
    };
  }

  private String text() {
    int length = random.nextInt(6);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < length; i++) {
      int[] ranges = {0x0, 0x20, 0x61, 0xe0, 0xffe0, 0x10000};
      text.appendCodePoint(ranges[random.nextInt(ranges.length)] + random.nextInt(26));
    }
    return text.toString();
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
