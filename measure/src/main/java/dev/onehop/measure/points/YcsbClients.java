package dev.onehop.measure.points;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.ChildJvm;
import dev.onehop.measure.frame.Processors;
import dev.onehop.measure.frame.Sampler;
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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Runs clients of a cluster, each in a YCSB process. Used by one thread. */
final class YcsbClients {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String STDOUT = "ycsb.out";
  private static final String STDERR = "ycsb.err";

  private final BenchCluster cluster;
  private final Progress progress;
  private final Path out;
  private final Workload workload;
  private final ClientPlan plan;
  private final boolean quickCompilerOnly;
  private final @Nullable Processors processors;
  private volatile @Nullable Running running;

  /**
   * @param out the folder of the results
   * @param plan how many clients each point has
   * @param quickCompilerOnly whether to leave out the JVM's optimizing compiler, which may take
   *     longer than a point, and the processors away from what is measured
   */
  YcsbClients(
      BenchCluster cluster,
      Progress progress,
      Path out,
      Workload workload,
      ClientPlan plan,
      boolean quickCompilerOnly) {
    this.cluster = cluster;
    this.progress = progress;
    this.out = out;
    this.workload = workload;
    this.plan = plan;
    this.quickCompilerOnly = quickCompilerOnly;
    this.processors = cluster.processors();
  }

  BenchCluster cluster() {
    return cluster;
  }

  Progress progress() {
    return progress;
  }

  Workload workload() {
    return workload;
  }

  ClientPlan plan() {
    return plan;
  }

  /** Which processors clients and servers run on, in words; null if servers are elsewhere. */
  @Nullable String processors() {
    return processors == null ? null : processors.text();
  }

  /**
   * A folder under that of the results, made if it is not there.
   *
   * @param name relative to it
   */
  Path folder(String name) throws IOException {
    return Files.createDirectories(out.resolve(name));
  }

  /** See {@link YcsbArguments#load}. */
  YcsbArguments load(Path folder) {
    return YcsbArguments.load(workload, cluster().url().secret(), folder);
  }

  /** See {@link YcsbArguments#closedLoop}. */
  YcsbArguments closedLoop(PointCell cell, Path folder) {
    return YcsbArguments.closedLoop(cell, workload, url(cell), folder);
  }

  /** See {@link YcsbArguments#openLoop}. */
  YcsbArguments openLoop(PointCell cell, Path folder, Arrivals arrivals) {
    return YcsbArguments.openLoop(cell, workload, url(cell), folder, arrivals);
  }

  /** Clients that are to know all mongoses have them in their URL. */
  private String url(PointCell cell) {
    if (!cell.mode().knowsAllRouters()) {
      return cluster().url().secret();
    }
    String all = cluster().allRoutersUrl();
    return cell.mode() == Mode.LOCAL_THRESHOLD_0 ? all + "&localThresholdMS=0" : all;
  }

  /** Begins to read what clients, servers and the machine use. */
  Sampler<Reading> sample() {
    return Reading.start(cluster(), () -> running);
  }

  /**
   * Runs clients to their end.
   *
   * @param mayFail whether operations may have failed, which the exit code says, too
   * @throws Failure if one took too long or did not come to its end
   */
  YcsbOutput run(Map<Path, YcsbArguments> arguments, Duration atMost, boolean mayFail)
      throws IOException, InterruptedException {
    try (Running started = start(arguments)) {
      return started.await(atMost, mayFail);
    }
  }

  /**
   * Starts clients.
   *
   * @param arguments those of each, by the folder for what it prints
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
    running = started;
    return started;
  }

  private List<String> jvmOptions() {
    return List.of(
        "-XX:+UseSerialGC",
        // The compilers begin after a fifth of the usual calls: at 2,000 operations a second on two
        // processors the rate is steady after some 20 s rather than 30.
        quickCompilerOnly ? "-XX:TieredStopAtLevel=1" : "-XX:CompileThresholdScaling=0.2");
  }

  /** The line of a run's standard error that says best what went wrong: ours, else YCSB's. */
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

  /** Clients that run side by side, one or several. Status lines come on threads of their own. */
  final class Running implements AutoCloseable {

    private final Map<Path, ChildJvm> children = new LinkedHashMap<>();
    private final Map<Path, StatusLine> status = new HashMap<>(); // guarded by this
    private final CompletableFuture<Long> began = new CompletableFuture<>();

    private void add(Path folder, YcsbArguments arguments) throws IOException {
      Path authority = cluster().url().authority();
      String task =
          JSON.writeValueAsString(
              new YcsbChild.Task(
                  arguments.list(),
                  Files.createDirectories(folder).resolve(STDOUT).toString(),
                  authority == null ? null : authority.toString()));
      String its = processors == null ? null : processors.client();
      children.put(
          folder,
          ChildJvm.start(
              "YCSB",
              its == null ? List.of() : List.of("taskset", "-c", its),
              jvmOptions(),
              YcsbChild.class,
              task,
              folder.resolve(STDERR),
              line -> status(folder, line)));
    }

    private synchronized boolean status(Path folder, String line) {
      Optional<StatusLine> parsed = StatusLine.parse(line);
      parsed.ifPresent(
          its -> {
            boolean unused = began.complete(System.nanoTime());
            status.put(folder, its);
            StatusLine all = StatusLine.sum(status.values());
            if (all.operations() > 0) {
              progress().state(all.text());
            }
          });
      return parsed.isPresent();
    }

    /** When the first of them issued operations, by {@link System#nanoTime}; 0 if none has. */
    long beginNanos() {
      return began.getNow(0L);
    }

    /**
     * Waits until operations are issued.
     *
     * @param atMost how long it may take to connect and to warm up
     * @throws Failure if nothing is issued
     */
    void awaitBegin(Duration atMost) throws InterruptedException {
      long end = System.nanoTime() + atMost.toNanos();
      while (System.nanoTime() - end < 0
          && children.values().stream().anyMatch(ChildJvm::isAlive)) {
        try {
          var unused = began.get(500, TimeUnit.MILLISECONDS);
          return;
        } catch (TimeoutException e) {
          // Perhaps it has ended.
        } catch (ExecutionException e) {
          throw new IllegalStateException(e);
        }
      }
      var unused = await(Duration.ZERO, false); // Its output says why.
      throw Failure.run("the client has issued nothing", null);
    }

    /** Sleeps until operations have been issued for that long. */
    void sleepUntil(Duration sinceBegin) throws InterruptedException {
      long left = beginNanos() + sinceBegin.toNanos() - System.nanoTime();
      if (left > 0) {
        TimeUnit.NANOSECONDS.sleep(left);
      }
    }

    /** See {@link YcsbClients#run}. */
    YcsbOutput await(Duration atMost, boolean mayFail) throws InterruptedException {
      long end = System.nanoTime() + atMost.toNanos();
      List<YcsbOutput> outputs = new ArrayList<>();
      for (Map.Entry<Path, ChildJvm> child : children.entrySet()) {
        Path folder = child.getKey();
        int code =
            child.getValue().awaitEnd(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
        YcsbOutput output = YcsbOutput.read(folder.resolve(STDOUT));
        // YCSB's own exit code is 0 whatever happened, but the binding's and the JVM's are not.
        if (!output.complete() || code > (mayFail ? 1 : 0)) {
          throw Failure.run(
              "YCSB broke off (exit code %d)%s; its output is in %s"
                  .formatted(code, complaint(folder).map(line -> ": " + line).orElse(""), folder),
              null);
        }
        outputs.add(output);
      }
      return YcsbOutput.merged(outputs);
    }

    /** The processor time that all have used so far; null once one of them has ended. */
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

    /** How many TCP connections all have; null if that can't be told of one of them. */
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

    /** Their process ids. */
    List<Long> pids() {
      return children.values().stream().map(ChildJvm::pid).toList();
    }

    /** Stops those that have not ended. */
    @Override
    public void close() {
      children.values().forEach(ChildJvm::stop);
    }
  }
}
