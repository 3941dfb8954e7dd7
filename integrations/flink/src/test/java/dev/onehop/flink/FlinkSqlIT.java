package dev.onehop.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.ConnectionString;
import com.mongodb.ErrorCategory;
import com.mongodb.MongoWriteException;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.Updates;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.topology.Topology;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.table.client.SqlClient;
import org.apache.flink.types.Row;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.types.Decimal128;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the statements of docs/cdc.md with Flink's SQL client on a small Flink cluster and three
 * real shards. Documents are inserted, changed and deleted while ranges move and task managers are
 * killed. At the end, the keyed sink has the same documents as the collection.
 *
 * <p>With {@code -Donehop.it.flink.seconds=300}, the test writes for five minutes.
 */
class FlinkSqlIT {
  private static final Duration LOAD =
      Duration.ofSeconds(Integer.getInteger("onehop.it.flink.seconds", 8));
  private static final Duration TIMEOUT = Duration.ofSeconds(90);
  private static final Duration SUBMISSION = Duration.ofMinutes(3);
  private static final int KEYS = 120;
  private static final int CUSTOMERS = 6;
  private static final int KILLS = 2;
  private static final List<String> SHARDS = List.of("one", "two", "three");
  private static final Pattern END = Pattern.compile(";\\s*");
  private static final Pattern SQL = Pattern.compile("(?s)## Flink SQL\n.*?```sql\n(.*?)```");

  /**
   * Totals that the job computes from the changes. They are wrong if a change is lost or counts
   * twice.
   */
  private static final String TOTALS =
      """
      CREATE TABLE totals (
        customer STRING, orders BIGINT, amount DECIMAL(38, 2), PRIMARY KEY (customer) NOT ENFORCED
      ) WITH ('connector' = 'keyed', 'url' = '', 'table-name' = 'totals');

      INSERT INTO totals SELECT customer, COUNT(*), SUM(amount) FROM orders GROUP BY customer;
      """;

  @TempDir private Path folder;

  private static Testbed testbed;
  private static MongoClient client;

  private final Random random = new Random(1);
  private final Map<Long, Document> written = new HashMap<>();
  private final AtomicInteger moves = new AtomicInteger();
  private final AtomicInteger refusals = new AtomicInteger();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private MongoCollection<Document> orders;
  private MiniCluster cluster;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(Topology.parse("flink.yaml", ChangeStreamSourceIT.TOPOLOGY)).start();
    client = MongoClients.create(testbed.url());
  }

  @AfterAll
  static void stop() {
    if (client != null) {
      client.close();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  @BeforeEach
  void startFlink() throws Exception {
    KeyedSinkFactory.clear();
    cluster = ChangeStreamSourceIT.startCluster();
  }

  @AfterEach
  void stopFlink() throws Exception {
    cluster.closeAsync().get();
    testbed.dropCollection("shop.orders");
  }

  private static BsonValue key(long id) {
    return new BsonInt64(id);
  }

  private static BsonValue customer(int number) {
    return new BsonString("customer" + number);
  }

  @Test
  void copyEqualsCollection() throws Exception {
    shard("_id", Stream.of(20, 40, 60, 80, 100).map(FlinkSqlIT::key).toList());
    assertCopyIsExact(sql(), "_id");
  }

  @Test
  void shardKeyChangeKeepsRow() throws Exception {
    shard("customer", Stream.of(1, 2, 3, 4, 5).map(FlinkSqlIT::customer).toList());
    assertCopyIsExact(
        sql().replace("'latest-offset'", "'latest-offset', 'scan.splits-per-shard' = '2'"),
        "customer");
  }

  @Test
  void copyIsExactWithFullChangelog() throws Exception {
    shard("_id", Stream.of(20, 40, 60, 80, 100).map(FlinkSqlIT::key).toList());
    for (String members : testbed.shardHosts().values()) {
      String host = members.replaceFirst(".*/", "");
      try (MongoClient direct =
          MongoClients.create("mongodb://" + host + "/?directConnection=true")) {
        direct
            .getDatabase("shop")
            .runCommand(
                Document.parse(
                    "{collMod: 'orders', changeStreamPreAndPostImages: {enabled: true}}"));
      }
    }
    assertCopyIsExact(
        sql().replace("'latest-offset'", "'latest-offset', 'scan.full-changelog' = 'true'"), "_id");
  }

  private void assertCopyIsExact(String sql, String shardKey) throws Exception {
    JobID job = submit(sql);
    awaitSeen();
    Thread load = new Thread(() -> load(shardKey), "load");
    load.start();
    for (int kill = 0; kill < KILLS; kill++) {
      // A third of the load's time passes before each kill.
      load.join(LOAD.toMillis() / 3);
      cluster.terminateTaskManager(kill).get();
      cluster.startTaskManager();
    }
    load.join();
    assertThat(failures).isEmpty();
    assertThat(moves.get()).isGreaterThanOrEqualTo(KILLS);
    if (shardKey.equals("_id")) {
      assertThat(refusals).hasValue(0);
    }
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              assertThat(KeyedSinkFactory.table("orders")).isEqualTo(copied());
              assertThat(KeyedSinkFactory.table("totals")).isEqualTo(totals());
            });
    assertThat(KeyedSinkFactory.STARTS.get())
        .isGreaterThanOrEqualTo(2 * (1 + KILLS) * ChangeStreamSourceIT.TASK_MANAGERS);
    cluster.cancelJob(job).get();
  }

  private static String sql() throws IOException {
    Matcher page =
        SQL.matcher(Files.readString(Path.of(System.getProperty("onehop.home"), "docs/cdc.md")));
    assertThat(page.find()).isTrue();
    String hosts = String.join(",", new ConnectionString(testbed.url()).getHosts());
    String sql =
        page.group(1)
            .replace("mongos1:27017,mongos2:27017", hosts)
            .replace("'connector' = 'jdbc'", "'connector' = 'keyed'");
    assertThat(sql).contains(hosts).contains("'keyed'");
    return sql + TOTALS;
  }

  /** Submits the statements with Flink's SQL client, as a user does. */
  private JobID submit(String sql) throws Exception {
    List<String> statements = END.splitAsStream(sql).toList();
    String tables = statements("CREATE", statements);
    String inserts = statements("INSERT", statements);
    Path script =
        Files.writeString(
            folder.resolve("copy.sql"),
            tables + "EXECUTE STATEMENT SET BEGIN\n" + inserts + "END;\n");
    URI rest = cluster.getRestAddress().get();
    Files.writeString(
        folder.resolve("config.yaml"),
        """
        execution.target: remote
        rest.address: %s
        rest.port: %d
        parallelism.default: %d
        execution.checkpointing.interval: 300ms
        restart-strategy.type: fixed-delay
        restart-strategy.fixed-delay.attempts: 100
        restart-strategy.fixed-delay.delay: 200ms
        """
            .formatted(rest.getHost(), rest.getPort(), ChangeStreamSourceIT.TASK_MANAGERS));
    Path output = folder.resolve("output.txt");
    ProcessBuilder command =
        new ProcessBuilder(
            ProcessHandle.current().info().command().orElseThrow(),
            "--add-opens=java.base/java.util=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-cp",
            System.getProperty("java.class.path"),
            SqlClient.class.getName(),
            "-f",
            script.toString());
    command.environment().put("FLINK_CONF_DIR", folder.toString());
    Process process = command.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      assertThat(process.waitFor(SUBMISSION.toSeconds(), TimeUnit.SECONDS))
          .as(Files.readString(output))
          .isTrue();
    } finally {
      process.destroyForcibly();
    }
    assertThat(process.exitValue()).as(Files.readString(output)).isZero();
    return cluster.listJobs().get().stream()
        .map(JobStatusMessage::getJobId)
        .findFirst()
        .orElseThrow();
  }

  private static String statements(String kind, List<String> all) {
    return all.stream()
        .filter(statement -> statement.startsWith(kind))
        .map(statement -> statement + ";\n")
        .collect(Collectors.joining());
  }

  private void shard(String key, List<BsonValue> bounds) {
    testbed.shardCollection(
        "shop.orders",
        new BsonDocument(key, new BsonInt32(1)),
        bounds.stream().map(bound -> new BsonDocument(key, bound)).toList());
    orders =
        client.getDatabase("shop").getCollection("orders").withWriteConcern(WriteConcern.MAJORITY);
  }

  /**
   * Writes until the job has seen a write, because the test does not know the time at which the job
   * begins.
   */
  private void awaitSeen() {
    await()
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(300))
        .until(
            () -> {
              orders.deleteOne(Filters.and(Filters.eq(0L), Filters.eq("customer", "customer0")));
              orders.insertOne(order(0, 0));
              return KeyedSinkFactory.table("orders").containsKey(0L);
            });
    written.put(0L, order(0, 0));
  }

  private void load(String shardKey) {
    try {
      long end = System.nanoTime() + LOAD.toNanos();
      while (System.nanoTime() - end < 0) {
        for (int i = 0; i < 40; i++) {
          tryWrite(random.nextInt(KEYS));
        }
        BsonValue bound =
            shardKey.equals("_id")
                ? key(20L * (1 + random.nextInt(5)))
                : customer(1 + random.nextInt(CUSTOMERS - 1));
        tryMove(new BsonDocument(shardKey, bound), SHARDS.get(random.nextInt(SHARDS.size())));
      }
    } catch (RuntimeException | AssertionError failure) {
      failures.add(failure);
    }
  }

  private Document order(long id, int customer) {
    List<Document> lines = new ArrayList<>();
    for (int line = random.nextInt(4); line > 0; line--) {
      lines.add(new Document("sku", "sku" + line).append("pieces", line));
    }
    return new Document("_id", id)
        .append("customer", "customer" + customer)
        .append("amount", new Decimal128(BigDecimal.valueOf(random.nextInt(100_000), 2)))
        .append("lines", lines);
  }

  /**
   * Ignores a failed migration: it may fail if a change of the shard key moves a document to the
   * same shard at the same time.
   */
  private void tryMove(BsonDocument bound, String to) {
    try {
      testbed.moveRange("shop.orders", bound, to);
      moves.incrementAndGet();
    } catch (TestbedException ended) {
      refusals.incrementAndGet();
    }
  }

  /**
   * Ignores duplicate keys. A change of the shard key fails if the other shard still has an orphan
   * with the same {@code _id}.
   */
  private void tryWrite(long id) {
    try {
      write(id);
    } catch (MongoWriteException refused) {
      if (refused.getError().getCategory() != ErrorCategory.DUPLICATE_KEY) {
        throw refused;
      }
    }
  }

  private void write(long id) {
    Document before = written.get(id);
    if (before == null) {
      Document order = order(id, random.nextInt(CUSTOMERS));
      orders.insertOne(order);
      written.put(id, order);
      return;
    }
    var filter = Filters.and(Filters.eq(id), Filters.eq("customer", before.get("customer")));
    switch (random.nextInt(4)) {
      case 0 -> {
        orders.deleteOne(filter);
        written.remove(id);
      }
      case 1 -> {
        Document order = order(id, 0).append("customer", before.get("customer"));
        orders.replaceOne(filter, order);
        written.put(id, order);
      }
      case 2 -> orders.updateOne(filter, Updates.inc("amount", new Decimal128(1)));
      default -> {
        String customer = "customer" + random.nextInt(CUSTOMERS);
        orders.updateOne(filter, Updates.set("customer", customer));
        written.put(id, new Document(before).append("customer", customer));
      }
    }
  }

  private Map<Object, Row> copied() {
    Map<Object, Row> rows = new HashMap<>();
    orders
        .find()
        .forEach(
            order ->
                rows.put(
                    order.getLong("_id"),
                    Row.of(
                        order.getLong("_id"),
                        order.getString("customer"),
                        amount(order),
                        order.getList("lines", Document.class).size())));
    return rows;
  }

  private Map<Object, Row> totals() {
    Map<Object, Row> rows = new HashMap<>();
    orders
        .find()
        .forEach(
            order ->
                rows.merge(
                    order.getString("customer"),
                    Row.of(order.getString("customer"), 1L, amount(order)),
                    (one, other) ->
                        Row.of(
                            one.getField(0),
                            one.<Long>getFieldAs(1) + 1,
                            one.<BigDecimal>getFieldAs(2).add(other.getFieldAs(2)))));
    return rows;
  }

  private static BigDecimal amount(Document order) {
    return order.get("amount", Decimal128.class).bigDecimalValue().setScale(2);
  }
}
