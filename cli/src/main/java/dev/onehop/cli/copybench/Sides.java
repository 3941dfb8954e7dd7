package dev.onehop.cli.copybench;

import dev.onehop.cli.bench.Progress;
import dev.onehop.testbed.MongodProcess;
import dev.onehop.testbed.Testbed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Sources and destinations, each started when it is first asked for, and kept until the end. */
final class Sides implements AutoCloseable {
  private static final int SOURCE_NETWORK = 69;
  private static final int DESTINATION_NETWORK = 70;

  private final CopyBenchPlan plan;
  private final Progress progress;
  private final Map<String, Side> started = new HashMap<>();
  private final Deque<Side> toClose = new ArrayDeque<>();
  private @Nullable Path folder;

  Sides(CopyBenchPlan plan, Progress progress) {
    this.plan = plan;
    this.progress = progress;
  }

  /** The source: a sharded cluster with one router, or a replica set. */
  Side source(boolean sharded) throws IOException, InterruptedException {
    return get("source", sharded, SOURCE_NETWORK, 1);
  }

  /** The destination: a sharded cluster with a router beside each shard, or a replica set. */
  Side destination(boolean sharded) throws IOException, InterruptedException {
    return get("destination", sharded, DESTINATION_NETWORK, 3);
  }

  private Side get(String name, boolean sharded, int network, int routers)
      throws IOException, InterruptedException {
    String key = name + (sharded ? ", sharded" : ", replica set");
    Side known = started.get(key);
    if (known != null) {
      return known;
    }
    progress.phase("starting the " + key);
    Side side = sharded ? sharded(name, network, routers) : replicaSet(name, network);
    started.put(key, side);
    toClose.push(side);
    return side;
  }

  private Side sharded(String name, int network, int routers) {
    return Side.of(
        Testbed.builder(Side.topology("copy-" + name, network, routers))
            .mongod(plan.mongod())
            .mongos(plan.mongos())
            // Long enough for the optimizing compiler to help stand-in routers, too.
            .longRun(!plan.quick())
            .start());
  }

  private Side replicaSet(String name, int network) throws IOException, InterruptedException {
    Path mongod = MongodProcess.find(plan.mongod(), progress::note);
    Path data = folder == null ? Files.createTempDirectory("onehop-copy") : folder;
    folder = data;
    return Side.replicaSet(mongod, name, "127." + network + ".0.9", data.resolve(name));
  }

  @Override
  public void close() throws IOException {
    try {
      while (!toClose.isEmpty()) {
        toClose.pop().close();
      }
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
