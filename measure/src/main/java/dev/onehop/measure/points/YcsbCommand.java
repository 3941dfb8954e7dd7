package dev.onehop.measure.points;

import dev.onehop.measure.results.HdrLogs;
import dev.onehop.ycsb.ClientWorkload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

  private static final String MEASURED_WORKLOAD = "dev.onehop.ycsb.MeasuredWorkload";

  private static final int LOAD_THREADS = 8;
  private static final int LOAD_BATCH = 100;

  private final Path java;
  private final String classPath;
  private final Workload workload;
  private final YcsbSecrets secrets;
  private final boolean quickCompilerOnly;
  private final @Nullable String processors;

  /**
   * @param secrets with the cluster's URL
   * @param quickCompilerOnly whether to leave out the JVM's optimizing compiler, which may take
   *     longer than a point, and the processors away from what is measured
   * @param processors those that the processes are kept to, as a list of taskset(1); null for all
   */
  YcsbCommand(
      Path java,
      String classPath,
      Workload workload,
      YcsbSecrets secrets,
      boolean quickCompilerOnly,
      @Nullable String processors) {
    this.java = java;
    this.classPath = classPath;
    this.workload = workload;
    this.secrets = secrets;
    this.quickCompilerOnly = quickCompilerOnly;
    this.processors = processors;
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
   * @param url another one than the cluster's, without a secret; null for that
   */
  List<String> point(PointPlan point, Path folder, BenchPlan plan, @Nullable String url) {
    List<String> command = client("-t", point, folder, url);
    warmUp(command, plan);
    Long operations = plan.operations();
    if (operations != null) {
      property(command, "operationcount", operations);
    }
    Duration measured = plan.duration();
    if (measured != null) {
      property(command, "operationcount", MOST_PER_SECOND * Math.max(1, measured.toSeconds()));
      property(command, "onehop.duration", measured.toMillis());
    }
    Double error = plan.error();
    if (error != null) {
      property(command, "onehop.error", error);
      property(command, "onehop.duration", BenchPlan.MOST_TO_ERROR.toMillis());
    }
    property(command, "onehop.workload", workload.workloadClass());
    property(command, "workload", MEASURED_WORKLOAD);
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
  List<String> scenario(PointPlan point, Path folder, ScenarioPlan plan, @Nullable String url) {
    List<String> command = client("run", point, folder, url);
    property(command, "onehop.warmup", plan.warmup().toMillis());
    property(command, "onehop.byshard", true);
    return openLoop(command, plan.rate(), plan.poisson(), plan.duration(), folder);
  }

  /**
   * Runs operations at intended times while nothing happens.
   *
   * @param drain how long answers are waited for at the end
   * @param url another one than the cluster's, without a secret; null for that
   */
  List<String> rate(
      PointPlan point, Path folder, BenchPlan plan, Duration drain, @Nullable String url) {
    List<String> command = client("run", point, folder, url);
    warmUp(command, plan);
    property(command, "onehop.drain", drain.toMillis());
    return openLoop(
        command,
        Objects.requireNonNull(point.rate()),
        Objects.requireNonNull(plan.rate()).poisson(),
        Objects.requireNonNull(plan.duration()),
        folder);
  }

  private List<String> client(String phase, PointPlan point, Path folder, @Nullable String url) {
    List<String> command = start(phase, point.mode(), point.threads());
    if (url != null) {
      property(command, "mongodb.url", url);
    }
    property(command, "onehop.connections", point.connections());
    if (point.pipelining()) {
      property(command, "onehop.pipelining", true);
    }
    property(command, "onehop.summary", summary(folder));
    return command;
  }

  private static void warmUp(List<String> command, BenchPlan plan) {
    property(command, "onehop.warmup", plan.warmup().toMillis());
    Duration least = plan.leastWarmup();
    if (least != null) {
      property(command, "onehop.warmup.least", least.toMillis());
    }
  }

  private List<String> openLoop(
      List<String> command, double rate, boolean poisson, Duration duration, Path folder) {
    property(command, "onehop.rate", rate);
    property(command, "onehop.arrivals", poisson ? "poisson" : "constant");
    property(command, "onehop.latencies", latencies(folder));
    property(command, "operationcount", Integer.MAX_VALUE);
    property(command, "maxexecutiontime", duration.toSeconds());
    if (workload.inserts()) {
      property(command, "mongodb.upsert", true);
    }
    return command;
  }

  /** The same command with everything it leaves in another folder. */
  List<String> into(List<String> command, Path from, Path to) {
    return command.stream().map(argument -> argument.replace(from + "/", to + "/")).toList();
  }

  /**
   * Makes a load that of one of several clients: its part of the records, when all are ready.
   *
   * @param load from {@link #load}
   */
  List<String> loadPart(List<String> load, ClientPlan clients, int index) {
    List<String> command = new ArrayList<>(load);
    long from = workload.records() * index / clients.count();
    long to = workload.records() * (index + 1) / clients.count();
    property(command, "insertstart", workload.insertStart() + from);
    property(command, "insertcount", to - from);
    share(command, clients, index, "load");
    return command;
  }

  /**
   * Makes a point that of one of several clients, which begin together.
   *
   * @param point from {@link #point}, whose operations or rate are those of all clients
   * @param what names the point within the run
   * @param operations of all clients together; null if time bounds the point
   */
  List<String> asClient(
      List<String> point, ClientPlan clients, int index, String what, @Nullable Long operations) {
    List<String> command = new ArrayList<>(point);
    boolean ends = point.contains("workload=" + MEASURED_WORKLOAD);
    property(command, ends ? "onehop.workload" : "workload", ClientWorkload.class.getName());
    share(command, clients, index, what);
    if (operations != null) {
      property(command, "operationcount", part(operations, clients, index));
    }
    return command;
  }

  /**
   * Makes a client one of several instances of an application, which take turns in bursts.
   *
   * @param client from {@link #scenario}
   * @param instances how many
   * @param rate operations per second of all of them
   */
  List<String> instances(List<String> client, int instances, double rate) {
    List<String> command = new ArrayList<>(client);
    property(command, "onehop.rate", rate);
    property(command, "onehop.byshard", false);
    property(command, "onehop.instances", instances);
    property(command, "onehop.burst", ScenarioPlan.POOL);
    return command;
  }

  private static long part(long of, ClientPlan clients, int index) {
    return of * (index + 1) / clients.count() - of * index / clients.count();
  }

  private static void share(List<String> command, ClientPlan clients, int index, String what) {
    property(command, "onehop.client", index);
    property(command, "onehop.clients", clients.count());
    property(command, "onehop.start", clients.run() + "/" + what);
  }

  /** The file with the latencies of each second of a scenario. */
  static Path latencies(Path folder) {
    return folder.resolve("latencies.hlog");
  }

  private List<String> start(String phase, Mode mode, int threads) {
    List<String> command = new ArrayList<>();
    if (processors != null) {
      command.addAll(List.of("taskset", "-c", processors));
    }
    command.addAll(List.of(java.toString(), HEAP, "-XX:+UseSerialGC"));
    // The compilers begin after a fifth of the usual calls: at 2,000 operations a second on two
    // processors the rate is steady after some 20 s rather than 30.
    command.add(quickCompilerOnly ? "-XX:TieredStopAtLevel=1" : "-XX:CompileThresholdScaling=0.2");
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
