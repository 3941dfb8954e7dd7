package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import dev.onehop.testbed.Testbed;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMinKey;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Several processes share channels, on real servers. A process appends each value of a document to
 * the document's list. The lists must equal the written values.
 *
 * <p>With {@code -Donehop.it.frozen.seconds=60}, a process is stopped for 60 seconds, as the tests
 * before a release require.
 */
@Tag("full")
class ChannelGroupIT {
  static final int CHANNELS = 6;

  private static final Duration FROZEN =
      Duration.ofSeconds(Integer.getInteger("onehop.it.frozen.seconds", 8));
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration RENEWAL = Duration.ofMillis(600);
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final int KEYS = 60;

  private static Testbed testbed;
  private static MongoClient client;

  @TempDir private Path logs;

  private final Map<Integer, Long> written = new TreeMap<>();
  private final List<Process> members = new ArrayList<>();
  private RealMongod store;
  private String sink;
  private MongoClient stored;
  private Thread writer;
  private volatile boolean stopped;
  private volatile Throwable failure;

  @BeforeAll
  static void start() {
    testbed = Testbed.builder(NearShards.topology("channel-groups", 38, 2)).start();
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
  void open() {
    testbed.shardCollection("streams.group", Numbered.KEY, Numbered.splitAt(20, 40));
    store = RealMongod.start();
    writeTo(store.url());
    stored.getDatabase("group").createCollection("applied");
  }

  private void writeTo(String url) {
    sink = url;
    stored = MongoClients.create(url);
  }

  @AfterEach
  void close() throws InterruptedException {
    stopped = true;
    members.forEach(Process::destroyForcibly);
    if (writer != null) {
      writer.join();
    }
    stored.close();
    store.close();
    testbed.dropCollection("streams.group");
  }

  @Test
  void writesValuesOnceDespiteKilledAndFrozenProcesses() throws Exception {
    Process first = join(true);
    awaitShares(6);
    write();
    Process second = join(true);
    awaitShares(3, 3);
    join(true);
    awaitShares(2, 2, 2);
    first.destroyForcibly();
    awaitShares(3, 3);
    freeze(second);
    awaitShares(3, 3);
    join(true);
    awaitShares(2, 2, 2);
    stopWriting();
    await().atMost(TIMEOUT).untilAsserted(this::check);
    // Waits for late writes of the stopped process, so that the next check finds them.
    RealTime.pass(LEASE);
    check();
    // If the process was stopped while it wrote a batch, its log shows the refusal. Otherwise its
    // log shows that it has released its channels.
    assertThat(Files.readAllLines(log(second)))
        .anyMatch(
            line -> line.equals(GroupMember.REFUSED) || line.contains("the channel is released"));
    assertThat(members.stream().filter(Process::isAlive)).hasSize(3);
    long values = written.values().stream().mapToLong(Long::longValue).sum();
    System.err.printf(
        "%d values; refused: %d batches of the process that was frozen%n",
        values,
        Files.readAllLines(log(second)).stream().filter(GroupMember.REFUSED::equals).count());
  }

  /**
   * A sharded cluster stores the leases and the written documents. A batch is a transaction over
   * two shards.
   */
  @Test
  void writesValuesOnceToShardedCluster() throws Exception {
    stored.close();
    writeTo(testbed.url());
    testbed.shardCollection("group.applied", Numbered.KEY, Numbered.splitAt(20, 40));
    Process first = join(true);
    awaitShares(6);
    write();
    join(true);
    awaitShares(3, 3);
    first.destroyForcibly();
    awaitShares(6);
    stopWriting();
    await().atMost(TIMEOUT).untilAsserted(this::check);
  }

  /** Without the fence, the test finds wrong documents. This shows that the test can fail. */
  @Tag("nightly")
  @Test
  void unfencedGroupWritesWrongDocuments() throws Exception {
    Process first = join(false);
    awaitShares(6);
    write();
    join(false);
    awaitShares(3, 3);
    // A process writes late only if it had events to write when it was stopped.
    for (int i = 0; i < 5 && isInOrder(); i++) {
      freeze(first);
      awaitShares(3, 3);
    }
    stopWriting();
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              Map<Integer, List<Long>> applied = applied();
              written.forEach((key, last) -> assertThat(applied.get(key)).contains(last));
            });
    assertThatThrownBy(this::check).isInstanceOf(AssertionError.class);
  }

  private Process join(boolean fenced) throws IOException {
    Path log = Files.createTempFile(logs, "member", ".log");
    Process member =
        new GroupMember.Task(testbed.url(), sink, LEASE, RENEWAL, fenced, false).start(log);
    Files.move(log, log(member));
    members.add(member);
    return member;
  }

  private Path log(Process member) {
    return logs.resolve(member.pid() + ".log");
  }

  /**
   * Stops a process until other processes have its channels, or longer. The process then continues.
   */
  private void freeze(Process member) throws IOException, InterruptedException {
    signal(member, "STOP");
    try {
      RealTime.pass(FROZEN);
      await().atMost(TIMEOUT).until(() -> !shares().containsKey(member.pid()));
    } finally {
      signal(member, "CONT");
    }
    await().atMost(TIMEOUT).until(() -> shares().containsKey(member.pid()));
  }

  private static void signal(Process process, String name)
      throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
    assertThat(kill.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    assertThat(kill.exitValue()).isZero();
  }

  private Map<Long, Integer> shares() {
    Map<Long, Integer> shares = new HashMap<>();
    for (Document lease :
        stored
            .getDatabase("group")
            .getCollection("leases")
            .find(Filters.and(Filters.exists("channel"), Filters.ne("owner", null)))) {
      long pid = Long.parseLong(lease.getString("owner").replaceFirst("-.*", ""));
      shares.merge(pid, 1, Integer::sum);
    }
    return shares;
  }

  private void awaitShares(Integer... expected) {
    await()
        .atMost(TIMEOUT)
        .untilAsserted(
            () -> {
              assertThat(failure).isNull();
              assertThat(shares().values()).containsExactlyInAnyOrder(expected);
            });
    // Waits until more values are written, so that each process has work.
    long before = count();
    if (writer != null) {
      await().atMost(TIMEOUT).until(() -> count() > before + 150);
    }
  }

  private long count() {
    return applied().values().stream().mapToLong(List::size).sum();
  }

  private Map<Integer, List<Long>> applied() {
    Map<Integer, List<Long>> applied = new TreeMap<>();
    for (Document each : stored.getDatabase("group").getCollection("applied").find()) {
      applied.put(each.getInteger("_id"), each.getList("values", Long.class));
    }
    return applied;
  }

  /** Every acknowledged write is applied exactly once, in its key's order. */
  private void check() {
    Map<Integer, List<Long>> applied = applied();
    assertThat(failure).isNull();
    assertThat(applied.keySet()).isEqualTo(written.keySet());
    written.forEach(
        (key, last) ->
            assertThat(applied.get(key))
                .as("key %s", key)
                .isEqualTo(LongStream.rangeClosed(1, last).boxed().toList()));
  }

  private boolean isInOrder() {
    return applied().values().stream()
        .allMatch(
            values -> values.equals(LongStream.rangeClosed(1, values.size()).boxed().toList()));
  }

  private void write() {
    writer = new Thread(this::writeKeys, "writer");
    writer.start();
  }

  private void stopWriting() throws InterruptedException {
    stopped = true;
    writer.join();
  }

  /** Writes values, and moves ranges. */
  private void writeKeys() {
    MongoCollection<Document> collection =
        client
            .getDatabase("streams")
            .getCollection("group")
            .withWriteConcern(WriteConcern.MAJORITY);
    Random random = new Random(1);
    try {
      for (int i = 0; !stopped; i++) {
        int key = random.nextInt(KEYS);
        long value = written.getOrDefault(key, 0L) + 1;
        collection.updateOne(
            Filters.eq(key), Updates.set("n", value), new UpdateOptions().upsert(true));
        written.put(key, value);
        if (i % 300 == 299) {
          int chunk = random.nextInt(3);
          testbed.moveRange(
              "streams.group",
              new BsonDocument("_id", chunk == 0 ? new BsonMinKey() : new BsonInt32(chunk * 20)),
              random.nextBoolean() ? "one" : "two");
        }
      }
    } catch (RuntimeException e) {
      failure = e;
    }
  }
}
