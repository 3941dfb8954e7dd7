package dev.onehop.it;

import static org.awaitility.Awaitility.await;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.model.Filters;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import dev.onehop.wire.RealTime;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Random faults of a cluster and its readers. One thread moves ranges, one disturbs servers, and
 * one disturbs readers. The faults come in rounds: each round has all faults of a thread in another
 * order.
 */
@SuppressWarnings("try") // javac: close() may throw InterruptedException
final class StreamFaults implements AutoCloseable {
  private static final Duration SETTLED = Duration.ofMinutes(2);
  private static final Duration STOP = Duration.ofMinutes(4);
  private static final Duration MAX_PAUSE = Duration.ofSeconds(3);
  private static final Document MAJORITY = new Document("w", "majority").append("wtimeout", 60_000);

  private final Testbed testbed;
  private final String namespace;
  private final List<Integer> bounds;
  private final List<StreamReaderProcess> readers;
  private final Consumer<String> progress;
  private final Map<String, Integer> counts = Collections.synchronizedMap(new TreeMap<>());
  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
  private final AtomicInteger moves = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();
  private final List<Thread> threads = new ArrayList<>();
  private final List<String> shards;
  private final List<String> targets;
  private int guests;
  private volatile boolean stopped;

  /** A fault, with the action that causes it. The action returns after the fault is over. */
  private record Fault(String name, Action action) {}

  private interface Action {
    void run(Random random) throws IOException, InterruptedException;
  }

  /**
   * Starts the faults.
   *
   * @param bounds the first slots of the collection's chunks, without the first chunk
   * @param progress receives a line about each fault
   */
  StreamFaults(
      Testbed testbed,
      String namespace,
      List<Integer> bounds,
      List<StreamReaderProcess> readers,
      long seed,
      Consumer<String> progress) {
    this.testbed = testbed;
    this.namespace = namespace;
    this.bounds = bounds;
    this.readers = readers;
    this.progress = progress;
    this.shards = List.copyOf(testbed.shardHosts().keySet());
    this.targets = new CopyOnWriteArrayList<>(shards);
    threads.add(new Thread(() -> guarded(() -> move(new Random(seed))), "mover"));
    threads.add(
        new Thread(
            () -> guarded(() -> rounds(serverFaults(), new Random(seed + 1))), "server-faults"));
    threads.add(
        new Thread(
            () -> guarded(() -> rounds(readerFaults(), new Random(seed + 2))), "reader-faults"));
    threads.forEach(Thread::start);
  }

  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private void guarded(Work work) {
    try {
      work.run();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException | RuntimeException | AssertionError e) {
      failures.add(e);
    }
  }

  /** Runs rounds of faults until the test ends, but at least one. */
  private void rounds(List<Fault> faults, Random random) throws IOException, InterruptedException {
    List<Fault> order = new ArrayList<>(faults);
    do {
      Collections.shuffle(order, random);
      for (Fault fault : order) {
        if (!failures.isEmpty() || (stopped && counts.getOrDefault(fault.name(), 0) > 0)) {
          continue;
        }
        progress.accept(fault.name());
        fault.action().run(random);
        counts.merge(fault.name(), 1, Integer::sum);
        pause(random, MAX_PAUSE);
      }
    } while (!stopped);
  }

  private List<Fault> serverFaults() {
    List<String> replicated = new ArrayList<>();
    List<String> single = new ArrayList<>();
    for (String shard : shards) {
      (members(shard).size() > 1 ? replicated : single).add(shard);
    }
    return List.of(
        new Fault("a primary steps down", random -> stepDown(one(replicated, random))),
        new Fault(
            "a primary is killed, another is elected",
            random -> kill(primary(one(replicated, random)), Duration.ofSeconds(15), random)),
        new Fault(
            "a shard's only server is killed",
            random -> kill(primary(one(single, random)), Duration.ofSeconds(5), random)),
        new Fault(
            "a primary is frozen, another is elected",
            random -> freeze(primary(one(replicated, random)), Duration.ofSeconds(20), random)),
        new Fault(
            "a shard's only server is frozen",
            random -> freeze(primary(one(single, random)), Duration.ofSeconds(8), random)),
        new Fault(
            "the config server is frozen",
            random -> freeze(configServer(), Duration.ofSeconds(6), random)),
        new Fault(
            "sockets are reset",
            random -> {
              for (int i = 0; i < 5; i++) {
                testbed.cutConnections(anyServer(random));
                pause(random, Duration.ofSeconds(1));
              }
            }),
        new Fault(
            "the network to a server is down",
            random -> {
              String address = anyServer(random);
              testbed.setBlocked(address, true);
              pause(random, Duration.ofSeconds(5));
              testbed.setBlocked(address, false);
            }),
        new Fault(
            "a shard is far away",
            random -> {
              String address = primary(one(shards, random));
              testbed.setFurther(address, Duration.ofMillis(200));
              pause(random, Duration.ofSeconds(8));
              testbed.setFurther(address, Duration.ZERO);
            }),
        new Fault("a shard comes and goes", this::addAndRemoveShard));
  }

  private List<Fault> readerFaults() {
    return List.of(
        new Fault(
            "a reader is killed",
            random -> {
              synchronized (readers) {
                StreamReaderProcess reader = one(readers, random);
                reader.kill();
                pause(random, Duration.ofSeconds(2));
                reader.start();
              }
            }),
        new Fault(
            "a reader is frozen",
            random -> {
              synchronized (readers) {
                StreamReaderProcess reader = one(readers, random);
                reader.setFrozen(true);
                pause(random, Duration.ofSeconds(15));
                reader.setFrozen(false);
              }
            }),
        new Fault("all readers run", random -> pause(random, Duration.ofSeconds(10))));
  }

  private static <T> T one(List<T> of, Random random) {
    return of.get(random.nextInt(of.size()));
  }

  private static List<String> membersOf(String replicaSet) {
    return Arrays.asList(replicaSet.substring(replicaSet.indexOf('/') + 1).split(",", -1));
  }

  private List<String> members(String shard) {
    return members(testbed, shard);
  }

  private static List<String> members(Testbed testbed, String shard) {
    return membersOf(testbed.shardHosts().get(shard));
  }

  private String configServer() {
    return membersOf(testbed.configServers()).get(0);
  }

  private String anyServer(Random random) {
    List<String> all = new ArrayList<>(List.of(configServer()));
    shards.forEach(shard -> all.addAll(members(shard)));
    return one(all, random);
  }

  private static MongoClient direct(String address) {
    return MongoClients.create(
        MongoClientSettings.builder()
            .applyConnectionString(
                new ConnectionString("mongodb://" + address + "/?directConnection=true"))
            .applyToClusterSettings(set -> set.serverSelectionTimeout(5, TimeUnit.SECONDS))
            .build());
  }

  private String primary(String shard) {
    return primary(testbed, shard);
  }

  /** Waits until a shard has a primary, and returns its address. */
  static String primary(Testbed testbed, String shard) {
    String[] found = {""};
    await("a primary of " + shard)
        .atMost(SETTLED)
        .pollInterval(Duration.ofMillis(200))
        .until(
            () -> {
              for (String member : members(testbed, shard)) {
                try (MongoClient client = direct(member)) {
                  if (client
                      .getDatabase("admin")
                      .runCommand(new Document("hello", 1))
                      .getBoolean("isWritablePrimary")) {
                    found[0] = member;
                  }
                } catch (MongoException e) {
                  // The next round tries again.
                }
              }
              return !found[0].isEmpty();
            });
    return found[0];
  }

  private void stepDown(String shard) {
    try (MongoClient client = direct(primary(shard))) {
      var unused =
          client
              .getDatabase("admin")
              .runCommand(
                  new Document("replSetStepDown", 10).append("secondaryCatchUpPeriodSecs", 5));
    } catch (MongoException e) {
      progress.accept("the step down was refused: " + e.getMessage());
    }
  }

  private void kill(String address, Duration longest, Random random) throws InterruptedException {
    testbed.kill(address);
    pause(random, longest);
    testbed.restart(address);
  }

  private void freeze(String address, Duration longest, Random random) throws InterruptedException {
    testbed.setFrozen(address, true);
    try {
      pause(random, longest);
    } finally {
      testbed.setFrozen(address, false);
    }
  }

  /** Adds a shard, moves ranges to it for a while, drains it and removes it. */
  private void addAndRemoveShard(Random random) throws InterruptedException {
    String name = "guest" + ++guests;
    try (RealMongod server = RealMongod.startShard(name)) {
      await("the shard is added")
          .atMost(SETTLED)
          .until(
              () ->
                  onConfig(
                      new Document("_configsvrAddShard", name + "/localhost:" + server.port())
                          .append("name", name)
                          .append("writeConcern", MAJORITY)));
      targets.add(name);
      progress.accept(name + " was added");
      BsonDocument range = VersionedWrites.bound(one(bounds, random));
      // Another fault may prevent the migration for some time.
      await("a range moves to " + name).atMost(SETTLED).until(() -> moved(range, name));
      pause(random, Duration.ofSeconds(12));
      targets.remove(name);
      synchronized (readers) {
        // A reader still needs the shard if its stored checkpoint is before the shard's last event,
        // or before the removal. So this code waits twice for new checkpoints.
        await(name + " is drained").atMost(SETTLED).until(() -> isDrained(name));
        awaitStoredCheckpoints();
        await(name + " is removed").atMost(SETTLED).until(() -> onConfig(removal(name)));
        progress.accept(name + " was removed");
        awaitStoredCheckpoints();
      }
    }
  }

  private void awaitStoredCheckpoints() {
    BsonTimestamp now = clusterTime();
    await("stored places are after " + now)
        .atMost(SETTLED)
        .until(
            () -> {
              boolean all = true;
              for (StreamReaderProcess reader : readers) {
                reader.poll();
                all &= isAfter(reader.checkpoint(), now);
              }
              return all;
            });
  }

  private static boolean isAfter(@Nullable Checkpoint checkpoint, BsonTimestamp time) {
    return checkpoint != null && checkpoint.clusterTime().compareTo(time) > 0;
  }

  private static Document removal(String name) {
    return new Document("_configsvrRemoveShard", name).append("writeConcern", MAJORITY);
  }

  /** Moves the remaining chunks away, and returns whether there were none. */
  private boolean isDrained(String name) {
    try (MongoClient config = direct(configServer())) {
      List<BsonDocument> left =
          config
              .getDatabase("config")
              .getCollection("chunks", BsonDocument.class)
              .find(Filters.eq("shard", name))
              .into(new ArrayList<>());
      for (BsonDocument chunk : left) {
        testbed.moveRange(namespace, chunk.getDocument("min"), shards.get(0));
      }
      // The shard must already be draining: only then no chunk is moved to the shard any more.
      return left.isEmpty() && isDraining(config, name);
    } catch (MongoException | TestbedException e) {
      progress.accept("not drained yet: " + e.getMessage());
      return false;
    }
  }

  private static boolean isDraining(MongoClient config, String name) {
    boolean draining =
        config
                .getDatabase("config")
                .getCollection("shards")
                .countDocuments(Filters.and(Filters.eq(name), Filters.eq("draining", true)))
            > 0;
    if (!draining) {
      var unused = config.getDatabase("admin").runCommand(removal(name));
    }
    return draining;
  }

  /**
   * Whether the config server has executed a command. The caller repeats the call until the result
   * is true.
   */
  private boolean onConfig(Document command) {
    try (MongoClient config = direct(configServer())) {
      Document reply = config.getDatabase("admin").runCommand(command);
      return !reply.containsKey("state") || "completed".equals(reply.get("state"));
    } catch (MongoCommandException e) {
      progress.accept("%s: %s".formatted(command.keySet().iterator().next(), e.getErrorMessage()));
      return false;
    } catch (MongoException e) {
      return false;
    }
  }

  private BsonTimestamp clusterTime() {
    try (MongoClient config = direct(configServer())) {
      return config
          .getDatabase("admin")
          .runCommand(BsonDocument.parse("{ping: 1}"), BsonDocument.class)
          .getTimestamp("operationTime");
    }
  }

  private void move(Random random) {
    while (!stopped) {
      int chunk = random.nextInt(bounds.size() + 1);
      moved(
          chunk == 0
              ? BsonDocument.parse("{_id: {$minKey: 1}}")
              : VersionedWrites.bound(bounds.get(chunk - 1)),
          one(targets, random));
    }
  }

  /** Moves a range, and returns whether that succeeded. It fails if a fault disturbs a server. */
  private boolean moved(BsonDocument range, String shard) {
    try {
      testbed.moveRange(namespace, range, shard);
      moves.incrementAndGet();
      return true;
    } catch (TestbedException e) {
      refused.incrementAndGet();
      return false;
    }
  }

  private static void pause(Random random, Duration longest) throws InterruptedException {
    RealTime.pass(Duration.ofMillis(random.nextLong(longest.toMillis())));
  }

  /**
   * @throws AssertionError if a fault could not be caused or ended
   */
  void check() {
    for (Throwable failure : failures) {
      throw new AssertionError("a fault failed", failure);
    }
  }

  int moves() {
    return moves.get();
  }

  /** The number of times that each fault occurred. */
  Map<String, Integer> counts() {
    synchronized (counts) {
      return new TreeMap<>(counts);
    }
  }

  @Override
  public String toString() {
    return "%d moves, %d refused".formatted(moves.get(), refused.get());
  }

  /** Ends the faults after each has occurred. Afterwards, all servers and readers run. */
  @Override
  public void close() throws InterruptedException {
    stopped = true;
    for (Thread thread : threads) {
      thread.join(STOP.toMillis());
      if (thread.isAlive()) {
        throw new AssertionError(thread.getName() + " hangs");
      }
    }
  }
}
