package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.onehop.testbed.evidence.Placement;
import dev.onehop.testbed.junit.ShardedCluster;
import dev.onehop.testbed.junit.SharedCluster;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.ycsb.AsyncClient;
import dev.onehop.ycsb.DirectAsyncClient;
import dev.onehop.ycsb.DirectSyncClient;
import dev.onehop.ycsb.LegacyClient;
import dev.onehop.ycsb.TargetedAsyncClient;
import dev.onehop.ycsb.TargetedSyncClient;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.Document;
import org.bson.types.Binary;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;
import site.ycsb.measurements.Measurements;

/** Every YCSB operation in every mode, on three shards that each own a part of the keys. */
@SuppressWarnings("JdkObsolete") // YCSB's interface requires a Vector.
@ShardedCluster
class YcsbOperationsIT {
  private static final int RECORDS = 90;

  private static TestCluster cluster;

  static List<Arguments> modes() {
    return List.of(
        Arguments.of("legacy", (Supplier<DB>) LegacyClient::new),
        Arguments.of("async", (Supplier<DB>) AsyncClient::new),
        Arguments.of("targeted", (Supplier<DB>) TargetedAsyncClient::new),
        Arguments.of("targeted-sync", (Supplier<DB>) TargetedSyncClient::new),
        Arguments.of("direct", (Supplier<DB>) DirectAsyncClient::new),
        Arguments.of("direct-sync", (Supplier<DB>) DirectSyncClient::new));
  }

  @BeforeAll
  static void start(SharedCluster shared) {
    cluster = TestCluster.shared(shared, Topology.named("single-host"), "ycsb");
    Measurements.setProperties(new Properties());
  }

  @AfterAll
  static void stop() {
    if (cluster != null) {
      cluster.close();
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("modes")
  void operationsReturnCorrectResults(String mode, Supplier<DB> binding) throws Exception {
    String table = "ops_" + mode;
    shard(table);
    try (MongoClient plain = MongoClients.create(cluster.url())) {
      MongoCollection<Document> stored = plain.getDatabase(cluster.database()).getCollection(table);
      DB db = open(binding, Map.of());

      for (int i = 0; i < RECORDS; i++) {
        assertThat(db.insert(table, key(i), fields("a" + i, "b" + i))).isEqualTo(Status.OK);
      }
      assertThat(stored.countDocuments()).isEqualTo(RECORDS);
      assertThat(text(stored.find(Filters.eq(key(42))).first(), "field1")).isEqualTo("b42");
      assertThat(db.insert(table, key(1), fields("x", "y")).isOk()).isFalse();

      assertThat(read(db, table, key(42), null))
          .isEqualTo(Map.of("field0", "a42", "field1", "b42"));
      assertThat(read(db, table, key(42), Set.of("field1"))).isEqualTo(Map.of("field1", "b42"));
      assertThat(db.read(table, "user_absent", null, new HashMap<>())).isEqualTo(Status.NOT_FOUND);

      Vector<HashMap<String, ByteIterator>> scanned = new Vector<>();
      assertThat(db.scan(table, key(25), 20, Set.of("field0"), scanned)).isEqualTo(Status.OK);
      assertThat(scanned)
          .extracting(record -> record.get("field0").toString())
          .containsExactlyElementsOf(IntStream.range(25, 45).mapToObj(i -> "a" + i).toList());

      assertThat(db.update(table, key(42), Map.of("field1", new StringByteIterator("new"))))
          .isEqualTo(Status.OK);
      assertThat(text(stored.find(Filters.eq(key(42))).first(), "field1")).isEqualTo("new");
      assertThat(text(stored.find(Filters.eq(key(42))).first(), "field0")).isEqualTo("a42");

      assertThat(db.delete(table, key(42))).isEqualTo(Status.OK);
      assertThat(stored.find(Filters.eq(key(42))).first()).isNull();
      assertThat(stored.countDocuments()).isEqualTo(RECORDS - 1);
      db.cleanup();
    }
    if (cluster.hasEvidence()) {
      assertThat(cluster.testbed("placement").evidence(cluster.namespace(table)).placement())
          .matches(Placement::isRight);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("modes")
  void cleanupWritesLastBatch(String mode, Supplier<DB> binding) throws Exception {
    String table = "batch_" + mode;
    shard(table);
    DB db = open(binding, Map.of("mongodb.batchsize", "40"));

    List<Status> statuses = new ArrayList<>();
    for (int i = 0; i < RECORDS; i++) {
      statuses.add(db.insert(table, key(i), fields("a" + i, "b" + i)));
    }
    db.cleanup();

    assertThat(statuses).allMatch(Status::isOk).contains(Status.BATCHED_OK);
    try (MongoClient plain = MongoClients.create(cluster.url())) {
      assertThat(plain.getDatabase(cluster.database()).getCollection(table).countDocuments())
          .isEqualTo(RECORDS);
    }
    if (cluster.hasEvidence()) {
      assertThat(cluster.testbed("placement").evidence(cluster.namespace(table)).placement())
          .matches(Placement::isRight);
    }
  }

  private static DB open(Supplier<DB> binding, Map<String, String> extra) throws Exception {
    Properties properties = new Properties();
    properties.setProperty("mongodb.url", cluster.url(cluster.database(), "w=1"));
    properties.putAll(extra);
    DB db = binding.get();
    db.setProperties(properties);
    db.init();
    return db;
  }

  /** Shards a table, with a third of the records on each shard. */
  private static void shard(String table) {
    cluster.shardCollection(
        cluster.namespace(table),
        new BsonDocument("_id", new BsonInt32(1)),
        IntStream.of(15, 30, 45, 60, 75)
            .mapToObj(i -> new BsonDocument("_id", new BsonString(key(i))))
            .toList());
  }

  private static String key(int i) {
    return "user%04d".formatted(i);
  }

  private static Map<String, ByteIterator> fields(String field0, String field1) {
    return Map.of(
        "field0", new StringByteIterator(field0), "field1", new StringByteIterator(field1));
  }

  private static Map<String, String> read(DB db, String table, String key, Set<String> fields) {
    Map<String, ByteIterator> result = new HashMap<>();
    assertThat(db.read(table, key, fields, result)).isEqualTo(Status.OK);
    Map<String, String> texts = new HashMap<>();
    result.forEach((name, value) -> texts.put(name, value.toString()));
    texts.remove("_id");
    return texts;
  }

  private static String text(Document document, String field) {
    return new String(document.get(field, Binary.class).getData(), StandardCharsets.UTF_8);
  }
}
