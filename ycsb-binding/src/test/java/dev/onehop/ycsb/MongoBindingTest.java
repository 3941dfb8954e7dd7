package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

@SuppressWarnings("JdkObsolete") // YCSB scans into a Vector
class MongoBindingTest {
  private static final String TABLE = "usertable";

  private final InMemoryStore store = new InMemoryStore();
  private final String mode;

  MongoBindingTest(TestInfo test) {
    mode = "binding " + test.getDisplayName(); // clients are shared in the whole process
  }

  @Test
  void executesOperations() throws DBException {
    MongoBinding binding = binding();
    for (int i = 0; i < 5; i++) {
      assertThat(binding.insert(TABLE, "user" + i, values("a" + i, "b" + i))).isSameAs(Status.OK);
    }

    assertThat(binding.update(TABLE, "user3", Map.of("field1", new StringByteIterator("new"))))
        .isSameAs(Status.OK);
    assertThat(binding.delete(TABLE, "user2")).isSameAs(Status.OK);

    assertThat(read(binding, "user3", null)).isEqualTo(Map.of("field0", "a3", "field1", "new"));
    assertThat(read(binding, "user3", Set.of("field1"))).isEqualTo(Map.of("field1", "new"));
    assertThat(scan(binding, "user1", 3, Set.of("field0")))
        .containsExactly(Map.of("field0", "a1"), Map.of("field0", "a3"), Map.of("field0", "a4"));
    binding.cleanup();
  }

  @Test
  void missingRecordsAreNotFound() throws DBException {
    MongoBinding binding = binding();

    assertThat(binding.read(TABLE, "user1", null, new HashMap<>())).isSameAs(Status.NOT_FOUND);
    assertThat(binding.update(TABLE, "user1", values("a", "b"))).isSameAs(Status.NOT_FOUND);
    assertThat(binding.delete(TABLE, "user1")).isSameAs(Status.NOT_FOUND);
    assertThat(scan(binding, "user1", 3, null)).isEmpty();
    binding.cleanup();
  }

  @Test
  void returnsStatusForFailure() throws DBException {
    MongoBinding binding = binding();
    store.failure = new MongoTimeoutException("gone");

    assertThat(binding.read(TABLE, "k", null, new HashMap<>()))
        .isSameAs(Status.SERVICE_UNAVAILABLE);
    assertThat(binding.scan(TABLE, "k", 1, null, new Vector<>()))
        .isSameAs(Status.SERVICE_UNAVAILABLE);
    assertThat(binding.update(TABLE, "k", values("a", "b"))).isSameAs(Status.SERVICE_UNAVAILABLE);
    assertThat(binding.insert(TABLE, "k", values("a", "b"))).isSameAs(Status.SERVICE_UNAVAILABLE);
    assertThat(binding.delete(TABLE, "k")).isSameAs(Status.SERVICE_UNAVAILABLE);
    binding.cleanup();
  }

  @Test
  void upsertReplacesWholeRecord() throws DBException {
    MongoBinding binding = binding("mongodb.upsert", "true");
    binding.insert(TABLE, "user1", values("a", "b"));

    assertThat(binding.insert(TABLE, "user1", Map.of("field0", new StringByteIterator("c"))))
        .isSameAs(Status.OK);

    assertThat(read(binding, "user1", null)).isEqualTo(Map.of("field0", "c"));
    binding.cleanup();
  }

  @Test
  void cleanupWritesPendingBatch() throws DBException {
    MongoBinding binding = binding("mongodb.batchsize", "2");

    assertThat(binding.insert(TABLE, "user1", values("a", "b"))).isSameAs(Status.BATCHED_OK);
    assertThat(binding.insert(TABLE, "user2", values("a", "b"))).isSameAs(Status.OK);
    assertThat(binding.insert(TABLE, "user3", values("a", "b"))).isSameAs(Status.BATCHED_OK);
    assertThat(store.of(TABLE)).containsOnlyKeys("user1", "user2");
    binding.cleanup();

    assertThat(store.of(TABLE)).containsOnlyKeys("user1", "user2", "user3");
    assertThat(store.closes).hasValue(1);
  }

  @Test
  void reportsAndCountsFailedPendingBatch(@TempDir Path folder) throws Exception {
    Path summary = folder.resolve("summary.json");
    MongoBinding binding = binding("mongodb.batchsize", "10", "onehop.summary", summary.toString());
    binding.insert(TABLE, "user1", values("a", "b"));
    binding.insert(TABLE, "user2", values("a", "b"));
    store.failure = new MongoTimeoutException("gone");

    assertThatThrownBy(binding::cleanup)
        .isInstanceOf(DBException.class)
        .hasMessageContaining("the last batch of inserts failed: gone");

    assertThat(store.closes).hasValue(1);
    assertThat(summaryNumber(summary, "operations")).isEqualTo(2);
    assertThat(summaryNumber(summary, "errors")).isEqualTo(2);
  }

  @Test
  void countsEachDocumentOfFailedBatchOnce(@TempDir Path folder) throws Exception {
    Path summary = folder.resolve("summary.json");
    MongoBinding binding = binding("mongodb.batchsize", "3", "onehop.summary", summary.toString());
    binding.insert(TABLE, "user1", values("a", "b"));
    binding.insert(TABLE, "user2", values("a", "b"));
    store.failure = new MongoTimeoutException("gone");

    assertThat(binding.insert(TABLE, "user3", values("a", "b")))
        .isSameAs(Status.SERVICE_UNAVAILABLE);
    binding.cleanup();

    assertThat(summaryNumber(summary, "errors")).isEqualTo(3);
  }

  @Test
  void summaryCountsLikeYcsb(@TempDir Path folder) throws Exception {
    Path summary = folder.resolve("summary.json");
    MongoBinding binding = binding("onehop.summary", summary.toString(), "onehop.warmup", "1");
    binding.insert(TABLE, "user1", values("a", "b"));
    binding.read(TABLE, "user1", null, new HashMap<>());
    binding.read(TABLE, "user2", null, new HashMap<>());
    binding.cleanup();

    assertThat(summaryNumber(summary, "operations")).isEqualTo(3);
    assertThat(summaryNumber(summary, "errors")).isEqualTo(1); // YCSB counts NOT_FOUND as an error
    assertThat(summaryNumber(summary, "warmupOperations")).isPositive();
  }

  @Test
  void hasNoWarmupByDefault(@TempDir Path folder) throws Exception {
    Path summary = folder.resolve("summary.json");
    MongoBinding binding = binding("onehop.summary", summary.toString());
    binding.cleanup();

    assertThat(summaryNumber(summary, "warmupOperations")).isZero();
  }

  @Test
  void failedInitReportsReasonAndClosesStore() {
    store.failure = new MongoTimeoutException("no server");

    assertThatThrownBy(this::binding)
        .isInstanceOf(DBException.class)
        .hasMessage("cannot use localhost:27017 (mongodb.url): no server");
    assertThat(store.closes).hasValue(1);
  }

  @Test
  void failedWarmupFailsInit() {
    assertThatThrownBy(() -> binding("onehop.warmup", "60000", "recordcount", "many"))
        .isInstanceOf(DBException.class)
        .hasMessageContaining("recordcount is 'many'");
    assertThat(store.closes).hasValue(1);
  }

  @Test
  void wrongPropertyFailsInit() {
    assertThatThrownBy(() -> binding("mongodb.batchsize", "-3"))
        .isInstanceOf(DBException.class)
        .hasMessageContaining("mongodb.batchsize must be a whole number");
    assertThat(store.pings).hasValue(0);
  }

  @Test
  void cleanupWithoutInitDoesNothing() throws DBException {
    MongoBinding binding = new InMemoryBinding();

    binding.cleanup();

    assertThat(store.closes).hasValue(0);
  }

  private MongoBinding binding(String... namesAndValues) throws DBException {
    Properties properties = new Properties();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      properties.setProperty(namesAndValues[i], namesAndValues[i + 1]);
    }
    MongoBinding binding = new InMemoryBinding();
    binding.setProperties(properties);
    binding.init();
    return binding;
  }

  private final class InMemoryBinding extends MongoBinding {
    InMemoryBinding() {
      super(mode);
    }

    @Override
    DocumentStore open(BindingOptions options) {
      return store;
    }
  }

  private static Map<String, ByteIterator> values(String field0, String field1) {
    return Map.of(
        "field0", new StringByteIterator(field0), "field1", new StringByteIterator(field1));
  }

  private static Map<String, String> read(MongoBinding binding, String key, Set<String> fields) {
    Map<String, ByteIterator> result = new HashMap<>();
    assertThat(binding.read(TABLE, key, fields, result)).isSameAs(Status.OK);
    return text(result);
  }

  private static List<Map<String, String>> scan(
      MongoBinding binding, String startKey, int count, Set<String> fields) {
    Vector<HashMap<String, ByteIterator>> result = new Vector<>();
    assertThat(binding.scan(TABLE, startKey, count, fields, result)).isSameAs(Status.OK);
    return result.stream().map(MongoBindingTest::text).toList();
  }

  private static Map<String, String> text(Map<String, ByteIterator> values) {
    Map<String, String> text = new HashMap<>();
    values.forEach((name, value) -> text.put(name, value.toString()));
    return text;
  }

  private static long summaryNumber(Path summary, String name) throws Exception {
    return BsonDocument.parse(Files.readString(summary)).getNumber(name).longValue();
  }
}
