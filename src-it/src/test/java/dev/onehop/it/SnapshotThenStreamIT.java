package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.UpdateOptions;
import com.mongodb.client.model.Updates;
import dev.onehop.testbed.Testbed;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMinKey;
import org.bson.Document;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes copy a sharded collection to another server, and are killed during the full copy and
 * afterwards. At the same time, documents are changed and inserted, and ranges move. The processes
 * append each value of a document to its list: first the value that was read, then each later value
 * once.
 */
@Tag("full")
class SnapshotThenStreamIT {
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration RENEWAL = Duration.ofMillis(600);
  private static final Duration TIMEOUT = Duration.ofMinutes(2);
  private static final int DOCUMENTS = 20_000;
  private static final Bson FILLING =
      Filters.and(Filters.exists("snapshot.upTo"), Filters.exists("place", false));

  @TempDir private Path logs;

  private final Map<Integer, Long> written = new ConcurrentHashMap<>();
  private final List<Process> members = new ArrayList<>();
  private Testbed testbed;
  private MongoClient client;
  private RealMongod store;
  private MongoClient stored;
  private Thread writer;
  private volatile boolean stopped;
  private volatile Throwable failure;

  @BeforeEach
  void start() {
    testbed = Testbed.builder(NearShards.topology("snapshot-then-stream", 39, 2)).start();
    client = MongoClients.create(testbed.url());
    testbed.shardCollection(
        "streams.group", Numbered.KEY, Numbered.splitAt(DOCUMENTS / 3, DOCUMENTS));
    List<Document> documents = new ArrayList<>();
    for (int i = 0; i < DOCUMENTS; i++) {
      documents.add(new Document("_id", i).append("n", 1L));
      written.put(i, 1L);
    }
    collection().insertMany(documents);
    store = RealMongod.start();
    stored = MongoClients.create(store.url());
    stored.getDatabase("group").createCollection("applied");
  }

  @AfterEach
  void stop() throws InterruptedException {
    stopped = true;
    members.forEach(Process::destroyForcibly);
    if (writer != null) {
      writer.join();
    }
    stored.close();
    store.close();
    client.close();
    testbed.close();
  }

  @Test
  void copiesDocumentsAndChangesOnce() throws Exception {
    writer = new Thread(this::writeKeys, "writer");
    writer.start();
    for (int kill = 0; kill < 3; kill++) {
      Process member = join();
      long before = applied().countDocuments();
      // Waits until the process has copied some documents but not all, and then kills it.
      await()
          .atMost(TIMEOUT)
          .pollInterval(Duration.ofMillis(20))
          .until(() -> states(FILLING) > 0 && applied().countDocuments() > before);
      assertThat(applied().countDocuments()).isLessThan(DOCUMENTS);
      kill(member);
    }
    Process first = join();
    join();
    await().atMost(TIMEOUT).until(() -> states(Filters.exists("place")) == ChannelGroupIT.CHANNELS);
    kill(first);
    int changes = written.size();
    await().atMost(TIMEOUT).until(() -> failure != null || written.size() > changes + 20);
    stopped = true;
    writer.join();
    await().atMost(TIMEOUT).untilAsserted(this::check);
    assertThat(members.stream().filter(Process::isAlive)).hasSize(1);
    System.err.printf(
        "%d documents, %d values, parts of the channels: %s%n",
        written.size(), written.values().stream().mapToLong(Long::longValue).sum(), parts());
  }

  private Process join() throws IOException {
    Process member =
        new GroupMember.Task(testbed.url(), store.url(), LEASE, RENEWAL, true, true)
            .start(logs.resolve("member" + members.size() + ".log"));
    members.add(member);
    return member;
  }

  private static void kill(Process member) throws InterruptedException {
    assertThat(member.isAlive()).isTrue();
    member.destroyForcibly().waitFor();
  }

  private MongoCollection<Document> collection() {
    return client
        .getDatabase("streams")
        .getCollection("group")
        .withWriteConcern(WriteConcern.MAJORITY);
  }

  private MongoCollection<Document> applied() {
    return stored.getDatabase("group").getCollection("applied");
  }

  private long states(Bson filter) {
    return stored.getDatabase("group").getCollection("states").countDocuments(filter);
  }

  private List<Integer> parts() {
    List<Integer> parts = new ArrayList<>();
    for (Document state : stored.getDatabase("group").getCollection("states").find()) {
      parts.add(state.get("snapshot", Document.class).getList("parts", Document.class).size());
    }
    return parts;
  }

  private void check() {
    assertThat(failure).isNull();
    Map<Integer, List<Long>> lists = new TreeMap<>();
    for (Document each : applied().find()) {
      lists.put(each.getInteger("_id"), each.getList("values", Long.class));
    }
    assertThat(lists.keySet()).isEqualTo(written.keySet());
    lists.forEach(
        (key, values) ->
            assertThat(values)
                .as("key %s", key)
                .isEqualTo(
                    LongStream.rangeClosed(values.get(0), written.get(key)).boxed().toList()));
  }

  /** Changes documents, inserts others after the last one, and moves ranges. */
  private void writeKeys() {
    Random random = new Random(1);
    try {
      for (int i = 0; !stopped; i++) {
        int key = i % 7 == 0 ? DOCUMENTS + i : random.nextInt(DOCUMENTS);
        long value = written.getOrDefault(key, 0L) + 1;
        collection()
            .updateOne(Filters.eq(key), Updates.set("n", value), new UpdateOptions().upsert(true));
        written.put(key, value);
        if (i % 300 == 299) {
          testbed.moveRange(
              "streams.group",
              random.nextBoolean()
                  ? new BsonDocument("_id", new BsonMinKey())
                  : new BsonDocument("_id", new BsonInt32(DOCUMENTS / 3)),
              random.nextBoolean() ? "one" : "two");
        }
      }
    } catch (RuntimeException e) {
      failure = e;
    }
  }
}
