package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.Order;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Readers in separate processes, in both orders, while ranges move, servers fail in every way, and
 * a shard is added and removed. The readers themselves are killed and frozen. Each reader must get
 * every acknowledged write, in its document's order. It may get an event again only if it has not
 * acknowledged it.
 *
 * <p>Before a release, run it with {@code -Donehop.it.stream.minutes=60}. {@code
 * -Donehop.it.stream.seed} repeats the choice of faults of an earlier run.
 */
@Tag("nightly")
class StreamSoakIT {
  private static final Duration DURATION =
      Duration.ofMinutes(Integer.getInteger("onehop.it.stream.minutes", 3));
  private static final long SEED = Long.getLong("onehop.it.stream.seed", System.nanoTime());
  private static final Duration SETTLED = Duration.ofMinutes(3);
  private static final Duration BETWEEN_LINES = Duration.ofSeconds(10);
  private static final String NAMESPACE = "soak.documents";
  private static final int SLOTS = 120;
  private static final int CHUNK = 20;
  private static final List<Integer> BOUNDS =
      IntStream.range(1, SLOTS / CHUNK).mapToObj(chunk -> chunk * CHUNK).toList();
  private static final Duration FROZEN = Duration.ofSeconds(40);
  private static final int CHANNELS = 8;
  private static final int PROCESSES = 2;

  /**
   * Two shards can elect another primary. The third shard has only one member. If that member is
   * killed, the shard is down until it returns.
   */
  private static final String TOPOLOGY =
      """
      name: stream-soak
      regions: [here]
      hosts:
        c: {region: here, address: 127.39.0.1}
        a1: {region: here, address: 127.39.1.1}
        a2: {region: here, address: 127.39.1.2}
        a3: {region: here, address: 127.39.1.3}
        b1: {region: here, address: 127.39.2.1}
        b2: {region: here, address: 127.39.2.2}
        b3: {region: here, address: 127.39.2.3}
        s1: {region: here, address: 127.39.3.1}
      roundTrips:
        here <-> here: 0.4
      client: c
      configServers: [c]
      shards:
        one: [a1, a2, a3]
        two: [b1, b2, b3]
        three: [s1]
      mongos: [c]
      """;

  private final List<StreamReaderProcess> readers = new ArrayList<>();
  private final long began = System.nanoTime();
  private Testbed testbed;
  private MongoClient client;

  @BeforeEach
  void start() {
    testbed = Testbed.builder(Topology.parse("stream-soak.yaml", TOPOLOGY)).start();
    client = MongoClients.create(testbed.url());
  }

  @AfterEach
  void stop() throws InterruptedException {
    for (StreamReaderProcess reader : readers) {
      reader.close();
    }
    if (client != null) {
      client.close();
    }
    if (testbed != null) {
      testbed.close();
    }
  }

  private void print(String line) {
    long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
    System.err.printf("SOAK %d:%02d %s%n", seconds / 60, seconds % 60, line);
  }

  @Test
  void readersGetEachWriteOnceInOrder(@TempDir Path folder) throws Exception {
    print("%s, -Donehop.it.stream.seed=%d".formatted(DURATION, SEED));
    Checkpoint begin = sharded();
    for (int process = 0; process < PROCESSES; process++) {
      readers.add(reader(folder, Order.PER_KEY, CHANNELS, process, PROCESSES, begin));
    }
    // This reader has all events in a single channel, so the check can compare their total order.
    readers.add(reader(folder, Order.TOTAL, 1, 0, 1, begin));

    VersionedWrites writes = new VersionedWrites(client, NAMESPACE, SLOTS, SEED);
    StreamFaults faults = new StreamFaults(testbed, NAMESPACE, BOUNDS, readers, SEED, this::print);
    try (writes;
        faults) {
      watch(writes, faults);
    }
    faults.check();
    awaitAllEvents(writes);
    print("%s; %s; %s; %s".formatted(writes, faults, readers, faults.counts()));
    assertThat(writes.acknowledged()).isGreaterThan(500);
    assertThat(writes.transactions()).isPositive();
    assertThat(faults.moves()).isGreaterThan(10);
    assertThat(readers.stream().mapToInt(StreamReaderProcess::starts).sum())
        .isGreaterThan(readers.size());
  }

  /** While it is frozen, the old primary does not step down. */
  @Test
  void readersSwitchFromFrozenPrimary(@TempDir Path folder) throws Exception {
    Checkpoint begin = sharded();
    for (Order order : Order.values()) {
      readers.add(reader(folder, order, 1, 0, 1, begin));
    }
    VersionedWrites writes = new VersionedWrites(client, NAMESPACE, SLOTS, SEED);
    try (writes) {
      awaitMoreEvents(writes);
      String primary = StreamFaults.primary(testbed, "one");
      testbed.setFrozen(primary, true);
      try {
        RealTime.pass(FROZEN);
        // The readers must continue before the old primary returns.
        awaitMoreEvents(writes);
      } finally {
        testbed.setFrozen(primary, false);
      }
      awaitMoreEvents(writes);
    }
    awaitAllEvents(writes);
  }

  private void awaitMoreEvents(VersionedWrites writes) {
    long written = writes.acknowledged();
    List<Long> before = readers.stream().map(reader -> reader.check().count()).toList();
    await("more is written and seen")
        .atMost(SETTLED)
        .until(
            () -> {
              for (StreamReaderProcess reader : readers) {
                reader.poll();
              }
              return writes.acknowledged() > written + 100
                  && IntStream.range(0, readers.size())
                      .allMatch(i -> readers.get(i).check().count() > before.get(i) + 100);
            });
  }

  private void awaitAllEvents(VersionedWrites writes) {
    await("all is seen")
        .atMost(SETTLED)
        .untilAsserted(
            () -> {
              List<String> differences = new ArrayList<>();
              for (StreamReaderProcess reader : readers) {
                reader.poll();
                differences.addAll(reader.differences(writes.written()));
              }
              assertThat(differences).isEmpty();
            });
  }

  /** Creates the collection, and returns the checkpoint before its first event. */
  private Checkpoint sharded() {
    testbed.shardCollection(
        NAMESPACE, Numbered.KEY, BOUNDS.stream().map(VersionedWrites::bound).toList());
    return Checkpoint.before(
        client
            .getDatabase("admin")
            .runCommand(BsonDocument.parse("{ping: 1}"), BsonDocument.class)
            .getTimestamp("operationTime"));
  }

  private StreamReaderProcess reader(
      Path folder, Order order, int channels, int process, int processes, Checkpoint begin)
      throws IOException {
    Path own = Files.createDirectory(folder.resolve(order + "-" + process));
    return new StreamReaderProcess(
        testbed.url(), NAMESPACE, order, channels, process, processes, begin, own);
  }

  private void watch(VersionedWrites writes, StreamFaults faults)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + DURATION.toNanos();
    while (System.nanoTime() < end) {
      RealTime.pass(BETWEEN_LINES);
      for (StreamReaderProcess reader : readers) {
        reader.poll();
      }
      faults.check();
      print("%s; %s; %s".formatted(writes, faults, readers));
    }
  }
}
