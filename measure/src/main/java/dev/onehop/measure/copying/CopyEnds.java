package dev.onehop.measure.copying;

import com.mongodb.client.MongoClient;
import dev.onehop.measure.frame.Folders;
import dev.onehop.measure.frame.Parallel;
import dev.onehop.measure.frame.Session;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.MongodProcess;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The sources and destinations of a bench. Each starts on first use and runs until the end of the
 * bench.
 */
final class CopyEnds implements AutoCloseable {
  private static final int SOURCE_NETWORK = 69;
  private static final int DESTINATION_NETWORK = 70;
  private static final int OPLOG_MEBIBYTES = 4_096;
  private static final Duration ELECTION = Duration.ofSeconds(60);

  private final CopyBenchPlan plan;
  private final Map<Kind, CopyEnd> started = new ConcurrentHashMap<>();
  private @Nullable Path folder;

  /**
   * A kind of source or destination.
   *
   * @param name the first part of its name
   * @param network the second part of its addresses
   * @param routers the number of routers of a sharded cluster
   */
  private record Kind(String name, boolean sharded, int network, int routers) {}

  CopyEnds(CopyBenchPlan plan) {
    this.plan = plan;
  }

  /** Starts the missing clusters, source and destination at the same time. */
  void start(ClusterPair pair, Session session) throws IOException, InterruptedException {
    List<Kind> missing =
        Stream.of(source(pair), destination(pair))
            .filter(kind -> !started.containsKey(kind))
            .toList();
    if (missing.isEmpty()) {
      return;
    }
    session.progress().phase("starting servers");
    folder = folder == null ? Files.createTempDirectory("onehop-copy") : folder;
    // SLF4J prints a warning if two threads use it for the first time at the same moment. So this
    // thread uses it before other threads start.
    Object unusedLog = LoggerFactory.getILoggerFactory();
    Parallel.forEach(
        missing,
        kind ->
            started.put(kind, kind.sharded() ? sharded(kind, session) : replicaSet(kind, session)));
  }

  private static Kind source(ClusterPair pair) {
    return new Kind("source", pair.fromSharded(), SOURCE_NETWORK, 1);
  }

  private static Kind destination(ClusterPair pair) {
    return new Kind("destination", pair.toSharded(), DESTINATION_NETWORK, 3);
  }

  /** Returns the source: a sharded cluster with one router, or a replica set. */
  CopyEnd from(ClusterPair pair) {
    return Objects.requireNonNull(started.get(source(pair)));
  }

  /** Returns the destination: a sharded cluster with a router near each shard, or a replica set. */
  CopyEnd to(ClusterPair pair) {
    return Objects.requireNonNull(started.get(destination(pair)));
  }

  private CopyEnd sharded(Kind kind, Session session) {
    Testbed testbed =
        Testbed.builder(topology(kind))
            .mongod(plan.mongod())
            .mongos(plan.mongos())
            // Stand-in routers use the optimizing compiler except in a quick run or with limited
            // processors. In these cases, the optimizing compiler would slow down the measured
            // operations.
            .longRun(!plan.quick() && plan.routerCpus() == null)
            .start();
    testbed.onProcessDeath(failure -> session.serverDied(failure.describe()));
    CopyEnd end = CopyEnd.of(testbed);
    try {
      // The oplogs must be so large that they still have all changes when the slower tool reads
      // them.
      end.shards()
          .values()
          .forEach(
              primary ->
                  CopyEnd.run(
                      primary,
                      new Document("replSetResizeOplog", 1)
                          .append("size", (double) OPLOG_MEBIBYTES)));
      if (plan.routerCpus() != null) {
        // This first limit allows all processors. It only tests, before any measurement, whether
        // limits work on this machine.
        end.limitRouters(Runtime.getRuntime().availableProcessors());
      }
      return end;
    } catch (RuntimeException e) {
      end.close();
      throw Failure.run(Failure.firstLine(e), e);
    }
  }

  /**
   * Returns a topology of three shards. Each shard has a near router if there are three routers.
   */
  private static Topology topology(Kind kind) {
    return Topology.parse(
        "copy-" + kind.name() + ".yaml",
        """
        name: copy-%1$s
        description: three shards without delays
        regions: [here]
        hosts:
          one: {region: here, address: 127.%2$d.0.1}
          two: {region: here, address: 127.%2$d.0.2}
          three: {region: here, address: 127.%2$d.0.3}
        roundTrips:
          here <-> here: 0
        client: one
        configServers: [one]
        shards:
          shard-1: [one]
          shard-2: [two]
          shard-3: [three]
        mongos: [%3$s]
        """
            .formatted(
                kind.name(), kind.network(), kind.routers() == 3 ? "one, two, three" : "one"));
  }

  /** Starts a replica set of one member. */
  private CopyEnd replicaSet(Kind kind, Session session) throws InterruptedException {
    Path mongod = MongodProcess.find(plan.mongod(), session.progress()::note);
    String name = kind.name() + "-set";
    Path data = Objects.requireNonNull(folder).resolve(name);
    String address = MongodProcess.freeAddress("127." + kind.network() + ".0.9");
    List<String> command = MongodProcess.command(mongod, name, address, data, OPLOG_MEBIBYTES);
    MongodProcess server = MongodProcess.start(name, command, address, data);
    server.onDeath(failure -> session.serverDied(failure.describe()));
    Document member = new Document("_id", 0).append("host", address);
    try (MongoClient client = CopyEnd.direct(address)) {
      Document config = new Document("_id", name).append("members", List.of(member));
      Document unused = CopyEnd.run(client, new Document("replSetInitiate", config));
      long end = System.nanoTime() + ELECTION.toNanos();
      while (!CopyEnd.run(client, new Document("hello", 1)).getBoolean("isWritablePrimary")) {
        if (System.nanoTime() - end > 0) {
          throw Failure.run("%s has no primary after %d s".formatted(name, ELECTION.toSeconds()));
        }
        Thread.sleep(20);
      }
    } catch (InterruptedException | RuntimeException e) {
      server.close();
      throw e;
    }
    return CopyEnd.of(server, name, address);
  }

  @Override
  public void close() {
    try {
      started.values().forEach(CopyEnd::close);
    } finally {
      if (folder != null) {
        Folders.delete(folder);
      }
    }
  }
}
