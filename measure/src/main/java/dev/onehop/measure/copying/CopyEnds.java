package dev.onehop.measure.copying;

import com.mongodb.client.MongoClient;
import dev.onehop.measure.frame.Parallel;
import dev.onehop.measure.frame.Session;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import dev.onehop.testbed.MongodProcess;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
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

  private final CopyBenchPlan plan;
  private final Map<String, CopyEnd> started = new ConcurrentHashMap<>();
  private @Nullable Path folder;

  CopyEnds(CopyBenchPlan plan) {
    this.plan = plan;
  }

  /** Starts the missing clusters, source and destination at the same time. */
  void start(ClusterPair pair, Session session) throws IOException, InterruptedException {
    Progress progress = session.progress();
    List<Parallel.Part<Session>> missing = new ArrayList<>();
    if (!started.containsKey(source(pair))) {
      missing.add(its -> start(source(pair), pair.fromSharded(), SOURCE_NETWORK, 1, its));
    }
    if (!started.containsKey(destination(pair))) {
      missing.add(its -> start(destination(pair), pair.toSharded(), DESTINATION_NETWORK, 3, its));
    }
    if (missing.isEmpty()) {
      return;
    }
    progress.phase("starting servers");
    folder = folder == null ? Files.createTempDirectory("onehop-copy") : folder;
    // SLF4J prints a warning if two threads use it for the first time at the same moment. So this
    // thread uses it before other threads start.
    Object unusedLog = LoggerFactory.getILoggerFactory();
    Parallel.forEach(missing, start -> start.run(session));
  }

  private static String source(ClusterPair pair) {
    return "source" + (pair.fromSharded() ? "" : "-set");
  }

  private static String destination(ClusterPair pair) {
    return "destination" + (pair.toSharded() ? "" : "-set");
  }

  /** Returns the source: a sharded cluster with one router, or a replica set. */
  CopyEnd from(ClusterPair pair) {
    return Objects.requireNonNull(started.get(source(pair)));
  }

  /** Returns the destination: a sharded cluster with a router near each shard, or a replica set. */
  CopyEnd to(ClusterPair pair) {
    return Objects.requireNonNull(started.get(destination(pair)));
  }

  private void start(String name, boolean sharded, int network, int routers, Session session)
      throws InterruptedException {
    started.put(
        name,
        sharded ? sharded(name, network, routers, session) : replicaSet(name, network, session));
  }

  private CopyEnd sharded(String name, int network, int routers, Session session) {
    Testbed testbed =
        Testbed.builder(topology("copy-" + name, network, routers))
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
  private static Topology topology(String name, int network, int routers) {
    return Topology.parse(
        name + ".yaml",
        """
        name: %1$s
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
            .formatted(name, network, routers == 3 ? "one, two, three" : "one"));
  }

  /** Starts a replica set of one member. */
  private CopyEnd replicaSet(String name, int network, Session session)
      throws InterruptedException {
    Path mongod = MongodProcess.find(plan.mongod(), session.progress()::note);
    Path data = Objects.requireNonNull(folder).resolve(name);
    String address = MongodProcess.freeAddress("127." + network + ".0.9");
    List<String> command = MongodProcess.command(mongod, name, address, data, OPLOG_MEBIBYTES);
    MongodProcess server = MongodProcess.start(name, command, address, data);
    server.onDeath(failure -> session.serverDied(failure.describe()));
    Document member = new Document("_id", 0).append("host", address);
    try (MongoClient client = CopyEnd.direct(address)) {
      Document config = new Document("_id", name).append("members", List.of(member));
      Document unused = CopyEnd.run(client, new Document("replSetInitiate", config));
      while (!CopyEnd.run(client, new Document("hello", 1)).getBoolean("isWritablePrimary")) {
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
        delete(folder);
      }
    }
  }

  private static void delete(Path folder) {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
