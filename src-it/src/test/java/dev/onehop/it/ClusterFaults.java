package dev.onehop.it;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.FindIterable;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import dev.onehop.wire.RealTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.Document;

/**
 * Faults of a cluster during a copy, until this object is closed. Ranges move all the time. All
 * other faults come one after the other, in rounds: primaries step down or are killed, and a test
 * may add more.
 */
@SuppressWarnings("try") // javac: close() may throw InterruptedException
final class ClusterFaults implements AutoCloseable {
  private static final Duration STOP = Duration.ofMinutes(3);

  private final Testbed testbed;
  private final MongoClient client;
  private final List<String> namespaces;
  private final Map<String, Fault> faults = new TreeMap<>();
  private final Map<String, Integer> counts = new TreeMap<>();
  private final AtomicInteger moves = new AtomicInteger();
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final List<Thread> threads = new ArrayList<>();
  private final Duration pause;
  private volatile boolean stopped;

  /** A fault, which is over when its method returns. */
  @FunctionalInterface
  interface Fault {
    /**
     * Causes the fault.
     *
     * @return whether the fault has happened
     */
    boolean happens(Random random) throws InterruptedException;
  }

  /**
   * Creates elections and migrations, which begin with {@link #start}.
   *
   * @param client a client of the testbed
   * @param namespaces sharded collections, whose ranges move
   * @param pause the longest pause between two faults
   */
  ClusterFaults(Testbed testbed, MongoClient client, List<String> namespaces, Duration pause) {
    this.testbed = testbed;
    this.client = client;
    this.namespaces = namespaces;
    this.pause = pause;
    List<String> shards = List.copyOf(testbed.shardHosts().keySet());
    with("step down", random -> stepDown(shards.get(0)));
    with("kill", random -> kill(shards.get(random.nextInt(shards.size())), random));
  }

  /** Adds a fault. */
  ClusterFaults with(String name, Fault fault) {
    faults.put(name, fault);
    return this;
  }

  ClusterFaults start(long seed) {
    threads.add(new Thread(() -> move(new Random(seed)), "moves-" + testbed.topology().name()));
    threads.add(
        new Thread(() -> rounds(new Random(seed + 1)), "faults-" + testbed.topology().name()));
    threads.forEach(Thread::start);
    return this;
  }

  /** Runs at least one round. */
  private void rounds(Random random) {
    try {
      do {
        for (Map.Entry<String, Fault> fault : faults.entrySet()) {
          if (!stopped || count(fault.getKey()) == 0) {
            RealTime.pass(Duration.ofMillis(random.nextLong(pause.toMillis())));
            if (fault.getValue().happens(random)) {
              synchronized (counts) {
                counts.merge(fault.getKey(), 1, Integer::sum);
              }
            }
          }
        }
      } while (!stopped || faults.keySet().stream().anyMatch(name -> count(name) == 0));
    } catch (InterruptedException e) {
      // The test has ended.
    } catch (RuntimeException | AssertionError e) {
      failures.add(e);
    }
  }

  private void move(Random random) {
    List<String> shards = List.copyOf(testbed.shardHosts().keySet());
    while (!stopped) {
      try {
        String namespace = namespaces.get(random.nextInt(namespaces.size()));
        Document entry = config("collections", new Document("_id", namespace)).first();
        if (entry == null) {
          RealTime.pass(Duration.ofMillis(100));
          continue;
        }
        List<Document> chunks =
            config("chunks", new Document("uuid", entry.get("uuid"))).into(new ArrayList<>());
        Document chunk = chunks.get(random.nextInt(chunks.size()));
        String from = chunk.getString("shard");
        String to = shards.get((shards.indexOf(from) + 1) % shards.size());
        testbed.moveRange(namespace, chunk.get("min", Document.class).toBsonDocument(), to);
        moves.incrementAndGet();
      } catch (TestbedException | MongoException refused) {
        // A fault may make a server refuse this migration. The next migration may succeed.
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private FindIterable<Document> config(String collection, Document filter) {
    return client.getDatabase("config").getCollection(collection).find(filter);
  }

  private boolean stepDown(String shard) {
    String before = StreamFaults.primary(testbed, shard);
    try (MongoClient primary = direct(before)) {
      var unused =
          primary
              .getDatabase("admin")
              .runCommand(
                  new Document("replSetStepDown", 10).append("secondaryCatchUpPeriodSecs", 8));
    } catch (MongoException refused) {
      // Either another member becomes the primary, or this primary stays.
    }
    return !StreamFaults.primary(testbed, shard).equals(before);
  }

  private boolean kill(String shard, Random random) throws InterruptedException {
    String primary = StreamFaults.primary(testbed, shard);
    testbed.kill(primary);
    RealTime.pass(Duration.ofMillis(random.nextLong(1_000)));
    testbed.restart(primary);
    return !StreamFaults.primary(testbed, shard).isEmpty();
  }

  /** A client of one server. */
  static MongoClient direct(String address) {
    return MongoClients.create(
        MongoClientSettings.builder()
            .applyConnectionString(
                new ConnectionString("mongodb://" + address + "/?directConnection=true"))
            .applyToClusterSettings(set -> set.serverSelectionTimeout(5, TimeUnit.SECONDS))
            .build());
  }

  /** Makes shards delete the documents of moved ranges without a delay. */
  static void removeOrphansAtOnce(Testbed testbed) {
    for (String shard : testbed.shardHosts().values()) {
      for (String member : shard.replaceFirst(".*/", "").split(",", -1)) {
        try (MongoClient server = direct(member)) {
          var unused =
              server
                  .getDatabase("admin")
                  .runCommand(BsonDocument.parse("{setParameter: 1, orphanCleanupDelaySecs: 0}"));
        }
      }
    }
  }

  private int count(String fault) {
    synchronized (counts) {
      return counts.getOrDefault(fault, 0);
    }
  }

  int moves() {
    return moves.get();
  }

  @Override
  public String toString() {
    synchronized (counts) {
      return "%d moves, %s".formatted(moves.get(), counts);
    }
  }

  /** Ends the faults after each of them has happened at least once. Afterwards, all servers run. */
  @Override
  public void close() throws InterruptedException {
    stopped = true;
    for (Thread thread : threads) {
      thread.join(STOP.toMillis());
      if (thread.isAlive()) {
        throw new AssertionError(thread.getName() + " hangs");
      }
    }
    for (Throwable failure : failures) {
      throw new AssertionError("a fault failed", failure);
    }
  }
}
