package dev.onehop.cli.bench;

import dev.onehop.cli.results.HdrLogs;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The command lines of YCSB processes. */
final class YcsbCommand {

  /** Enough for YCSB's key generators and buffers; small, since several JVMs share the machine. */
  private static final String HEAP = "-Xmx512m";

  /**
   * Where time bounds a point: more operations per second than a point can do. YCSB 0.17 has no
   * "unlimited": it cuts the threads to the operation count, to none if that is 0.
   */
  private static final int MOST_PER_SECOND = 50_000;

  private static final int LOAD_THREADS = 8;
  private static final int LOAD_BATCH = 100;

  private final Path java;
  private final String classPath;
  private final Workload workload;
  private final YcsbSecrets secrets;
  private final boolean quickCompilerOnly;

  /**
   * @param secrets with the cluster's URL
   * @param quickCompilerOnly whether to leave out the JVM's optimizing compiler, which may take
   *     longer than a point, and the processors away from what is measured
   */
  YcsbCommand(
      Path java,
      String classPath,
      Workload workload,
      YcsbSecrets secrets,
      boolean quickCompilerOnly) {
    this.java = java;
    this.classPath = classPath;
    this.workload = workload;
    this.secrets = secrets;
    this.quickCompilerOnly = quickCompilerOnly;
  }

  /** The file that a point's binding writes its summary to. */
  static Path summary(Path folder) {
    return folder.resolve("summary.json");
  }

  /** Loads all documents, batched, through the sync driver. */
  List<String> load(Path folder) {
    List<String> command = start("-load", Mode.LEGACY, LOAD_THREADS);
    property(command, "insertcount", workload.records());
    // Not used, but YCSB's zipfian generator is set up here too and wants a number.
    property(command, "operationcount", 0);
    property(command, "mongodb.batchsize", LOAD_BATCH);
    property(command, "onehop.connections", LOAD_THREADS);
    property(command, "onehop.summary", summary(folder));
    return command;
  }

  /**
   * Runs one point.
   *
   * @param measured the measured time; null if {@code operations} bound the point
   * @param connecting how long it takes until the warm-up begins
   */
  List<String> point(
      PointPlan point,
      Path folder,
      Duration warmup,
      @Nullable Long operations,
      @Nullable Duration measured,
      Duration connecting) {
    List<String> command = start("-t", point.mode(), point.threads());
    property(command, "onehop.connections", point.connections());
    if (point.pipelining()) {
      property(command, "onehop.pipelining", true);
    }
    property(command, "onehop.warmup", warmup.toMillis());
    property(command, "onehop.summary", summary(folder));
    if (operations != null) {
      property(command, "operationcount", operations);
    }
    if (measured != null) {
      property(command, "operationcount", MOST_PER_SECOND * Math.max(1, measured.toSeconds()));
      property(command, "maxexecutiontime", executionSeconds(warmup, measured, connecting));
    }
    property(command, "measurementtype", "hdrhistogram");
    property(command, "hdrhistogram.fileoutput", true);
    property(command, "hdrhistogram.output.path", HdrLogs.prefix(folder));
    if (workload.inserts()) {
      // Each point inserts the same new keys as the one before.
      property(command, "mongodb.upsert", true);
    }
    return command;
  }

  /**
   * Runs operations at intended times.
   *
   * @param url another one than the cluster's, without a secret; null for that
   */
  List<String> scenario(
      PointPlan point, Path folder, Duration warmup, ScenarioPlan plan, @Nullable String url) {
    List<String> command = start("run", point.mode(), point.threads());
    if (url != null) {
      property(command, "mongodb.url", url);
    }
    property(command, "onehop.connections", point.connections());
    if (point.pipelining()) {
      property(command, "onehop.pipelining", true);
    }
    property(command, "onehop.warmup", warmup.toMillis());
    property(command, "onehop.summary", summary(folder));
    property(command, "onehop.rate", plan.rate());
    property(command, "onehop.arrivals", plan.poisson() ? "poisson" : "constant");
    property(command, "onehop.latencies", latencies(folder));
    property(command, "onehop.byshard", true);
    property(command, "operationcount", Integer.MAX_VALUE);
    property(command, "maxexecutiontime", plan.duration().toSeconds());
    if (workload.inserts()) {
      property(command, "mongodb.upsert", true);
    }
    return command;
  }

  /** The file with the latencies of each second of a scenario. */
  static Path latencies(Path folder) {
    return folder.resolve("latencies.hlog");
  }

  /** YCSB's clock starts before {@code init()}, where connecting and the warm-up happen. */
  static long executionSeconds(Duration warmup, Duration measured, Duration connecting) {
    return Math.max(1, Math.round(warmup.plus(measured).plus(connecting).toMillis() / 1000.0));
  }

  private List<String> start(String phase, Mode mode, int threads) {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(java.toString(), HEAP, "-XX:+UseSerialGC"));
    if (quickCompilerOnly) {
      command.add("-XX:TieredStopAtLevel=1");
    }
    command.addAll(secrets.jvmOptions());
    command.addAll(List.of("-cp", classPath, YcsbChild.class.getName(), phase, "-s"));
    command.addAll(List.of("-db", mode.dbClass(), "-threads", String.valueOf(threads)));
    command.addAll(List.of("-P", secrets.properties().toString()));
    for (Map.Entry<String, String> entry : workload.properties().entrySet()) {
      property(command, entry.getKey(), entry.getValue());
    }
    property(command, "status.interval", 1);
    return command;
  }

  private static void property(List<String> command, String name, Object value) {
    command.add("-p");
    command.add(name + "=" + value);
  }
}
