package dev.onehop.measure.points;

import dev.onehop.measure.results.HdrLogs;
import dev.onehop.ycsb.ClientWorkload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The arguments of a YCSB process: a phase, a binding, and properties. Mutable. */
final class YcsbArguments {

  /**
   * The bound of a point that is bounded by time: more operations per second than a point can do.
   * YCSB 0.17 has no "unlimited": it limits the threads to the operation count, and starts none if
   * that is 0.
   */
  private static final int MOST_PER_SECOND = 50_000;

  private static final String MEASURED_WORKLOAD = "dev.onehop.ycsb.MeasuredWorkload";
  private static final int LOAD_THREADS = 8;
  private static final int LOAD_BATCH = 100;

  private final String phase;
  private final Mode mode;
  private final int threads;
  private final Map<String, String> properties;

  private YcsbArguments(
      String phase, Mode mode, int threads, Workload workload, String url, Path folder) {
    this.phase = phase;
    this.mode = mode;
    this.threads = threads;
    this.properties = new LinkedHashMap<>(workload.properties());
    set("mongodb.url", url);
    set("status.interval", 1);
    set("onehop.summary", RunSummary.file(folder));
  }

  /** Loads all documents, batched, through the synchronous driver. */
  static YcsbArguments load(YcsbClients clients, Path folder) {
    Workload workload = clients.workload();
    String url = clients.cluster().url().secret();
    return new YcsbArguments("-load", Mode.LEGACY, LOAD_THREADS, workload, url, folder)
        .set("insertcount", workload.records())
        // Not used, but YCSB's zipfian generator is also created here and needs a number.
        .set("operationcount", 0)
        .set("mongodb.batchsize", LOAD_BATCH)
        .set("onehop.connections", LOAD_THREADS);
  }

  /** Runs threads that each start an operation when the one before has ended. */
  static YcsbArguments closedLoop(PointCell cell, YcsbClients clients, Path folder) {
    return of("-t", cell, clients, folder)
        .set("onehop.workload", clients.workload().workloadClass())
        .set("workload", MEASURED_WORKLOAD)
        .set("measurementtype", "hdrhistogram")
        .set("hdrhistogram.fileoutput", true)
        .set("hdrhistogram.output.path", HdrLogs.prefix(folder));
  }

  /** Issues operations at intended times. */
  static YcsbArguments openLoop(
      PointCell cell, YcsbClients clients, Path folder, Arrivals arrivals) {
    return of("run", cell, clients, folder)
        .set("onehop.rate", arrivals.perSecond())
        .set("onehop.arrivals", arrivals.kind())
        .set("onehop.latencies", latencies(folder))
        .set("operationcount", Integer.MAX_VALUE)
        .set("maxexecutiontime", arrivals.duration().toSeconds());
  }

  private static YcsbArguments of(String phase, PointCell cell, YcsbClients clients, Path folder) {
    Workload workload = clients.workload();
    String url = clients.url(cell);
    YcsbArguments arguments =
        new YcsbArguments(phase, cell.mode(), cell.threads(), workload, url, folder)
            .set("onehop.connections", cell.connections());
    if (cell.pipelining()) {
      arguments.set("onehop.pipelining", true);
    }
    if (workload.inserts()) {
      // Each point inserts the same new keys as the one before.
      arguments.set("mongodb.upsert", true);
    }
    return arguments;
  }

  /** Runs unmeasured operations first. */
  YcsbArguments warmUp(Warmup warmup) {
    set("onehop.warmup", warmup.most().toMillis());
    Duration least = warmup.least();
    return least == null ? this : set("onehop.warmup.least", least.toMillis());
  }

  /** Bounds a closed loop by time. */
  YcsbArguments during(Duration time) {
    return set("operationcount", MOST_PER_SECOND * Math.max(1, time.toSeconds()))
        .set("onehop.duration", time.toMillis());
  }

  /**
   * Makes the process one of several clients, which start together.
   *
   * @param what names the point within the run
   */
  YcsbArguments client(ClientPlan clients, int index, String what) {
    boolean ends = MEASURED_WORKLOAD.equals(properties.get("workload"));
    return set(ends ? "onehop.workload" : "workload", ClientWorkload.class.getName())
        .share(clients, index, what);
  }

  /** Limits the load to the part of the records of one of several clients. */
  YcsbArguments loadPart(ClientPlan clients, int index, Workload workload) {
    long from = clients.begin(workload.records(), index);
    return set("insertstart", workload.insertStart() + from)
        .set("insertcount", clients.part(workload.records(), index))
        .share(clients, index, "load");
  }

  private YcsbArguments share(ClientPlan clients, int index, String what) {
    return set("onehop.client", index)
        .set("onehop.clients", clients.count())
        .set("onehop.start", clients.run() + "/" + what);
  }

  /** Sets a property and replaces its former value. */
  YcsbArguments set(String name, Object value) {
    properties.put(name, String.valueOf(value));
    return this;
  }

  /** The arguments, including the cluster's password. */
  List<String> list() {
    List<String> arguments = new ArrayList<>(List.of(phase, "-s", "-db", mode.dbClass()));
    arguments.addAll(List.of("-threads", String.valueOf(threads)));
    properties.forEach((name, value) -> arguments.addAll(List.of("-p", name + "=" + value)));
    return arguments;
  }

  /** The file with the latencies of each second of an open loop. */
  static Path latencies(Path folder) {
    return folder.resolve("latencies.hlog");
  }
}
