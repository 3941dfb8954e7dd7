package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.Processors;
import dev.onehop.resync.ChildJvm;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Starts clients of a cluster, each in a YCSB process.
 *
 * @param out the folder of the results
 * @param plan the number of clients of each point
 * @param quickCompilerOnly whether to turn off the JVM's optimizing compiler: it may need more time
 *     than a point takes, and it takes processor time from the measured program
 * @param processors the processors of clients and servers; null if the servers are on other
 *     machines
 */
record YcsbClients(
    BenchCluster cluster,
    Progress progress,
    Path out,
    Workload workload,
    ClientPlan plan,
    boolean quickCompilerOnly,
    @Nullable Processors processors) {

  private static final String STDOUT = "ycsb.out";
  private static final String STDERR = "ycsb.err";

  /**
   * Returns a folder below the results' folder. It exists as soon as a client with this folder is
   * started.
   *
   * @param name the path of the folder, relative to the results' folder
   */
  Path folder(String name) {
    return out.resolve(name);
  }

  /** Returns the URL of a client. It names all mongoses if the mode needs them. */
  String url(PointCell cell) {
    if (!cell.mode().knowsAllRouters()) {
      return cluster.url().secret();
    }
    String all = cluster.allRoutersUrl();
    return cell.mode() == Mode.LOCAL_THRESHOLD_0 ? all + "&localThresholdMS=0" : all;
  }

  /**
   * Starts clients.
   *
   * @param arguments the arguments of each client, by the folder for its output
   */
  Running start(Map<Path, YcsbArguments> arguments) throws IOException {
    Running started = new Running();
    try {
      for (Map.Entry<Path, YcsbArguments> each : arguments.entrySet()) {
        started.add(each.getKey(), each.getValue());
      }
    } catch (IOException | RuntimeException e) {
      started.close();
      throw e;
    }
    return started;
  }

  /**
   * Returns the line of a run's standard error with the best reason of a failure: a line of OneHop
   * if there is one, or a line of YCSB.
   */
  static Optional<String> complaint(Path folder) {
    List<String> lines;
    try {
      lines = Files.readAllLines(folder.resolve(STDERR));
    } catch (IOException e) {
      return Optional.empty();
    }
    return lines.stream()
        .filter(line -> line.startsWith(ChildJvm.FAILED))
        .reduce((first, last) -> last)
        .map(line -> line.substring(ChildJvm.FAILED.length()))
        .or(
            () ->
                lines.stream()
                    .filter(line -> line.matches("[\\w.$]*(Exception|Error)\\b.*"))
                    .findFirst());
  }

  /** One or several clients, which run in parallel. Other threads receive their status lines. */
  final class Running implements AutoCloseable {

    private final Map<Path, ChildJvm> children = new LinkedHashMap<>();
    private final Map<Path, StatusLine> status = new HashMap<>(); // guarded by this
    private final CountDownLatch began = new CountDownLatch(1);
    private volatile long beginNanos;

    private void add(Path folder, YcsbArguments arguments) throws IOException {
      String its = processors == null ? null : processors.client();
      // The compilers start after a fifth of the usual number of calls. At 2,000 operations per
      // second with two processors, the rate is then steady after some 20 s. Without this option
      // it takes 30 s.
      String compiler =
          quickCompilerOnly ? "-XX:TieredStopAtLevel=1" : "-XX:CompileThresholdScaling=0.2";
      children.put(
          folder,
          ChildJvm.start(
              "YCSB",
              its == null ? List.of() : List.of("taskset", "-c", its),
              List.of("-XX:+UseSerialGC", compiler),
              YcsbChild.class,
              new YcsbChild.Task(
                  arguments.list(), folder.resolve(STDOUT), cluster.url().authority()),
              folder.resolve(STDERR),
              line -> status(folder, line)));
    }

    private synchronized boolean status(Path folder, String line) {
      Optional<StatusLine> parsed = StatusLine.parse(line);
      if (parsed.isEmpty()) {
        return false;
      }
      if (began.getCount() > 0) {
        beginNanos = System.nanoTime();
        began.countDown();
      }
      status.put(folder, parsed.get());
      StatusLine all = StatusLine.sum(status.values());
      if (all.operations() > 0) {
        progress.state(all.text());
      }
      return true;
    }

    /**
     * The time when the first client began to issue operations, by {@link System#nanoTime}; 0 if no
     * client has begun.
     */
    long beginNanos() {
      return beginNanos;
    }

    /**
     * Waits until operations are issued.
     *
     * @param atMost the longest time for connecting and the warm-up
     * @throws Failure if no operation is issued
     */
    void awaitBegin(Duration atMost) throws InterruptedException {
      long end = System.nanoTime() + atMost.toNanos();
      while (System.nanoTime() - end < 0
          && children.values().stream().anyMatch(ChildJvm::isAlive)) {
        if (began.await(500, TimeUnit.MILLISECONDS)) {
          return;
        }
      }
      var unused =
          await(Duration.ZERO, false); // throws a failure with the reason from the client's output
      throw Failure.run("the client has issued no operation", null);
    }

    /** Sleeps until operations have been issued for this time. */
    void sleepUntil(Duration sinceBegin) throws InterruptedException {
      long left = beginNanos + sinceBegin.toNanos() - System.nanoTime();
      if (left > 0) {
        TimeUnit.NANOSECONDS.sleep(left);
      }
    }

    /**
     * Waits for the end of all clients.
     *
     * @param mayFail whether operations may fail; a client with exit code 1 then counts as
     *     finished, too
     * @throws Failure if a client took too long or did not finish
     */
    YcsbOutput await(Duration atMost, boolean mayFail) throws InterruptedException {
      long end = System.nanoTime() + atMost.toNanos();
      List<YcsbOutput> outputs = new ArrayList<>();
      for (Map.Entry<Path, ChildJvm> child : children.entrySet()) {
        Path folder = child.getKey();
        int code =
            child.getValue().awaitEnd(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
        YcsbOutput output = YcsbOutput.read(folder.resolve(STDOUT));
        // YCSB's own exit code is always 0. Other exit codes come from the binding and the JVM.
        if (!output.complete() || code > (mayFail ? 1 : 0)) {
          throw Failure.run(
              "YCSB failed (exit code %d)%s; its output is in %s"
                  .formatted(code, complaint(folder).map(line -> ": " + line).orElse(""), folder),
              null);
        }
        outputs.add(output);
      }
      return YcsbOutput.merged(outputs);
    }

    /** The processor time that all clients have used so far; null if one of them has ended. */
    @Nullable Duration cpuTime() {
      Duration sum = Duration.ZERO;
      for (ChildJvm child : children.values()) {
        Duration used = child.cpuTime();
        if (used == null) {
          return null;
        }
        sum = sum.plus(used);
      }
      return sum;
    }

    /**
     * The number of TCP connections of all clients; null if the number of one client is unknown.
     */
    @Nullable Integer connections() {
      int sum = 0;
      for (long pid : pids()) {
        Integer each = ProcStat.connections(pid);
        if (each == null) {
          return null;
        }
        sum += each;
      }
      return sum;
    }

    /** The process ids of the clients. */
    List<Long> pids() {
      return children.values().stream().map(ChildJvm::pid).toList();
    }

    /** Stops the clients that are still running. */
    @Override
    public void close() {
      children.values().forEach(ChildJvm::stop);
    }
  }
}
