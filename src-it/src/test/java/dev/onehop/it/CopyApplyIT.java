package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.ReplaceOptions;
import dev.onehop.copy.internal.apply.Applier;
import dev.onehop.copy.internal.apply.ApplyStatus;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.TestbedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/** Events of real servers applied to real servers: in the end both have the same bytes. */
class CopyApplyIT {
  private static final Duration TIMEOUT = Duration.ofSeconds(60);
  private static final List<String> COLLECTIONS = List.of("one", "two");
  private static final int KEYS = 40;
  private static final Duration PAUSE =
      Duration.ofMillis(Integer.getInteger("onehop.it.apply.pause", 500));

  private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

  /** From the middle of a copy, with the applier ended and begun anew meanwhile. */
  @Test
  void randomChangesOfReplicaSetsGiveTheSameBytes() throws Exception {
    try (RealMongod from = RealMongod.start();
        RealMongod to = RealMongod.start();
        MongoClient source = MongoClients.create(from.url());
        MongoClient destination = MongoClients.create(to.url())) {
      Duration time = Duration.ofSeconds(Integer.getInteger("onehop.it.apply.seconds", 6));
      try (RandomWrites writes = new RandomWrites(source, "d", COLLECTIONS, KEYS, 3)) {
        ServerProcess.pause(Duration.ofMillis(500));
        BsonTimestamp start = now(source);
        for (String collection : COLLECTIONS) {
          copy(source, destination, collection);
        }
        try (Running running = new Running(from.url(), to.url(), start)) {
          ServerProcess.pause(time.dividedBy(2));
        }
        try (Running running = new Running(from.url(), to.url(), start)) {
          ServerProcess.pause(time.dividedBy(2));
          writes.close();
          BsonTimestamp end = now(source);
          BsonTimestamp applied = running.finish();
          assertThat(applied).isGreaterThanOrEqualTo(end);
          System.err.printf(
              "%d writes, %d refused, %s%n",
              writes.done(), writes.failures().size(), running.status());
        }
        assertThat(failures).isEmpty();
        for (String collection : COLLECTIONS) {
          assertEqual(documents(source, collection), documents(destination, collection));
        }
      }
    }
  }

  /**
   * Shards of another number and other shard keys, ranges that move at both ends, documents that
   * change their shard key; and appliers that are killed, and stopped for longer than their leases.
   */
  @Test
  void shardedClustersWithMovingRangesAndLostProcesses() throws Exception {
    Duration time = Duration.ofSeconds(Integer.getInteger("onehop.it.apply.seconds", 6));
    try (Testbed from = Testbed.builder(NearShards.topology("apply-from", 67, 3)).start();
        Testbed to = Testbed.builder(NearShards.topology("apply-to", 68, 2)).start();
        MongoClient source = MongoClients.create(from.url());
        MongoClient destination = MongoClients.create(to.url())) {
      BsonDocument byPlace = BsonDocument.parse("{k: 1}");
      from.shardCollection("d.one", byPlace, places(6));
      from.shardHashedCollection("d.two", BsonDocument.parse("{_id: 'hashed'}"), 6);
      to.shardCollection("d.one", byPlace, places(4));
      to.shardCollection("d.two", byPlace, places(3));
      BsonTimestamp end;
      try (RandomWrites writes = new RandomWrites(source, "d", COLLECTIONS, KEYS, 4);
          Moves atSource = new Moves(from, places(6));
          Moves atDestination = new Moves(to, places(4))) {
        ServerProcess.pause(Duration.ofSeconds(1));
        BsonTimestamp start = now(source);
        for (String collection : COLLECTIONS) {
          copy(source, destination, collection);
        }
        Process killed = CopyApplyMain.start(from.url(), to.url(), start);
        ServerProcess.pause(time);
        killed.destroyForcibly();
        Process stopped = CopyApplyMain.start(from.url(), to.url(), start);
        ServerProcess.pause(time);
        signal(stopped, "STOP");
        try (Running running = new Running(from.url(), to.url(), start)) {
          ServerProcess.pause(time);
          signal(stopped, "CONT");
          ServerProcess.pause(time);
          writes.close();
          end = now(source);
          BsonTimestamp applied = running.finish();
          assertThat(applied).isGreaterThanOrEqualTo(end);
          System.err.printf(
              "%d writes, %d and %d moves, %s%n",
              writes.done(), atSource.done.get(), atDestination.done.get(), running.status());
        } finally {
          stopped.destroyForcibly();
        }
        assertThat(writes.failures()).isEmpty();
        assertThat(atSource.done.get()).isPositive();
        assertThat(atDestination.done.get()).isPositive();
      }
      for (String collection : COLLECTIONS) {
        assertEqual(documents(source, collection), documents(destination, collection));
      }
    }
  }

  private static List<BsonDocument> places(int chunks) {
    return IntStream.range(1, chunks)
        .mapToObj(n -> new BsonDocument("k", new BsonInt32(n * RandomWrites.PLACES / chunks)))
        .toList();
  }

  private static void signal(Process process, String name) throws Exception {
    assertThat(new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start().waitFor())
        .isZero();
  }

  /** Moves ranges all the time. */
  private static final class Moves implements AutoCloseable {
    private final AtomicInteger done = new AtomicInteger();
    private final Thread thread;
    private volatile boolean stopped;

    Moves(Testbed testbed, List<BsonDocument> bounds) {
      thread = new Thread(() -> run(testbed, bounds), "moves");
      thread.start();
    }

    private void run(Testbed testbed, List<BsonDocument> bounds) {
      Random random = new Random(1);
      List<String> shards = List.copyOf(testbed.shardHosts().keySet());
      while (!stopped) {
        try {
          testbed.moveRange(
              "d.one",
              bounds.get(random.nextInt(bounds.size())),
              shards.get(random.nextInt(shards.size())));
          done.incrementAndGet();
          ServerProcess.pause(PAUSE);
        } catch (TestbedException refused) {
          // Another one may work.
        } catch (InterruptedException e) {
          return;
        }
      }
    }

    @Override
    public void close() throws InterruptedException {
      stopped = true;
      thread.join();
    }
  }

  /** An applier in this process. */
  private final class Running implements AutoCloseable {
    private final com.mongodb.reactivestreams.client.MongoClient source;
    private final com.mongodb.reactivestreams.client.MongoClient destination;
    private final Applier applier;
    private final Disposable run;

    Running(String from, String to, BsonTimestamp start) {
      source = com.mongodb.reactivestreams.client.MongoClients.create(from);
      destination = com.mongodb.reactivestreams.client.MongoClients.create(to);
      applier = CopyApplyMain.applier(from, source, destination, start);
      run = applier.run().subscribe(nothing -> {}, failures::add);
      if (Boolean.getBoolean("dbg")) { Thread d = new Thread(() -> { try { while (true) { Thread.sleep(5000); System.err.println(java.time.LocalTime.now()+" "+status()); 
        if (Boolean.getBoolean("dbg2")) for (var x : reactor.core.publisher.Flux.from(destination.getDatabase("onehop_copy").getCollection("leases").find()).toIterable()) { x.remove("barrier"); System.err.println("   "+x.toJson().replaceAll("2B0229296E04","..")); } } } catch (Exception e) { System.err.println(e); } }); d.setDaemon(true); d.start(); }
    }

    BsonTimestamp finish() {
      CompletableFuture<BsonTimestamp> finished = applier.finish().toFuture();
      await()
          .atMost(TIMEOUT)
          .failFast(() -> assertThat(failures).isEmpty())
          .until(finished::isDone);
      return finished.join();
    }

    ApplyStatus status() {
      return applier.status().block(TIMEOUT);
    }

    @Override
    public void close() throws InterruptedException {
      run.dispose();
      // Its channels are given up in the background.
      ServerProcess.pause(Duration.ofSeconds(2));
      source.close();
      destination.close();
    }
  }

  /** Not at one time. */
  private static void copy(MongoClient source, MongoClient destination, String collection) {
    MongoCollection<RawBsonDocument> into = collection(destination, collection);
    for (RawBsonDocument document : collection(source, collection).find().batchSize(2)) {
      // A scan may meet a document twice, and at another place.
      into.deleteMany(new BsonDocument("_id", document.get("_id")));
      into.replaceOne(
          new BsonDocument("_id", document.get("_id")).append("k", document.get("k")),
          document,
          new ReplaceOptions().upsert(true));
    }
  }

  private static MongoCollection<RawBsonDocument> collection(MongoClient of, String name) {
    return of.getDatabase("d").getCollection(name, RawBsonDocument.class);
  }

  /** As text, which tells types and the order of fields. */
  private static Map<String, String> documents(MongoClient of, String name) {
    Map<String, String> documents = new TreeMap<>();
    for (RawBsonDocument document : collection(of, name).find()) {
      String twice = documents.put(document.get("_id").toString(), document.toJson());
      assertThat(twice).as("the same _id: %s", document).isNull();
    }
    return documents;
  }

  private static void assertEqual(Map<String, String> expected, Map<String, String> found) {
    Set<String> all = new TreeSet<>(expected.keySet());
    all.addAll(found.keySet());
    List<String> differences = new ArrayList<>();
    for (String id : all) {
      if (!Objects.equals(expected.get(id), found.get(id))) {
        differences.add("%n%s%n  not %s".formatted(expected.get(id), found.get(id)));
      }
    }
    assertThat(differences).isEmpty();
    assertThat(expected).isNotEmpty();
  }

  private static BsonTimestamp now(MongoClient of) {
    return of.getDatabase("admin")
        .runCommand(BsonDocument.parse("{ping: 1}"), BsonDocument.class)
        .getTimestamp("operationTime");
  }
}
