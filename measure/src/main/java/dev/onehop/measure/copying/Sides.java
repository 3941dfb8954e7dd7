package dev.onehop.measure.copying;

import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import dev.onehop.testbed.MongodProcess;
import dev.onehop.testbed.Testbed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** Sources and destinations, each started when it is first needed, and kept until the end. */
final class Sides implements AutoCloseable {
  private static final int SOURCE_NETWORK = 69;
  private static final int DESTINATION_NETWORK = 70;
  private static final long ENDING_SECONDS = 30;

  private final CopyBenchPlan plan;
  private final Progress progress;
  private final Map<String, Side> started = new ConcurrentHashMap<>();
  private @Nullable Path folder;

  Sides(CopyBenchPlan plan, Progress progress) {
    this.plan = plan;
    this.progress = progress;
  }

  /** Starts what is not there yet, source and destination at the same time. */
  void start(ClusterPair setup) throws IOException, InterruptedException {
    List<Callable<Void>> missing = new ArrayList<>();
    if (!started.containsKey(source(setup))) {
      missing.add(() -> start(source(setup), setup.fromSharded(), SOURCE_NETWORK, 1));
    }
    if (!started.containsKey(destination(setup))) {
      missing.add(() -> start(destination(setup), setup.toSharded(), DESTINATION_NETWORK, 3));
    }
    if (missing.isEmpty()) {
      return;
    }
    progress.phase("starting servers");
    folder = folder == null ? Files.createTempDirectory("onehop-copy") : folder;
    // Two threads that log first, at the same time, make the log complain.
    Object unusedLog = LoggerFactory.getILoggerFactory();
    ExecutorService threads = Executors.newFixedThreadPool(missing.size());
    try {
      for (Future<Void> each : threads.invokeAll(missing)) {
        each.get();
      }
    } catch (ExecutionException e) {
      throw e.getCause() instanceof RuntimeException failure
          ? failure
          : Failure.run(Failure.firstLine(Objects.requireNonNullElse(e.getCause(), e)), e);
    } finally {
      threads.shutdownNow();
      boolean unused = threads.awaitTermination(ENDING_SECONDS, TimeUnit.SECONDS);
    }
  }

  private static String source(ClusterPair setup) {
    return "source" + (setup.fromSharded() ? "" : "-set");
  }

  private static String destination(ClusterPair setup) {
    return "destination" + (setup.toSharded() ? "" : "-set");
  }

  /** The source: a sharded cluster with one router, or a replica set. */
  Side from(ClusterPair setup) {
    return Objects.requireNonNull(started.get(source(setup)));
  }

  /** The destination: a sharded cluster with a router beside each shard, or a replica set. */
  Side to(ClusterPair setup) {
    return Objects.requireNonNull(started.get(destination(setup)));
  }

  private @Nullable Void start(String name, boolean sharded, int network, int routers)
      throws InterruptedException {
    started.put(name, sharded ? sharded(name, network, routers) : replicaSet(name, network));
    return null;
  }

  private Side sharded(String name, int network, int routers) {
    Side side =
        Side.of(
            Testbed.builder(Side.topology("copy-" + name, network, routers))
                .mongod(plan.mongod())
                .mongos(plan.mongos())
                // Long enough for the optimizing compiler to help stand-in routers, too. Where they
                // are held to a share, it would take that from what is measured.
                .longRun(!plan.quick() && plan.routerCpus() == null)
                .start());
    if (plan.routerCpus() != null) {
      try {
        // All there are: whether it can be done is told before anything is measured.
        side.limitRouters(Runtime.getRuntime().availableProcessors());
      } catch (RuntimeException e) {
        side.close();
        throw Failure.run(Failure.firstLine(e), e);
      }
    }
    return side;
  }

  private Side replicaSet(String name, int network) throws InterruptedException {
    return Side.replicaSet(
        MongodProcess.find(plan.mongod(), progress::note),
        name,
        "127." + network + ".0.9",
        Objects.requireNonNull(folder).resolve(name));
  }

  @Override
  public void close() throws IOException {
    try {
      started.values().forEach(Side::close);
    } finally {
      if (folder != null) {
        delete(folder);
      }
    }
  }

  private static void delete(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
