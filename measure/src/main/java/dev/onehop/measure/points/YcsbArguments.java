package dev.onehop.measure.points;

import dev.onehop.measure.results.HdrLogs;
import dev.onehop.ycsb.ClientWorkload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The arguments of a YCSB process: a phase, a binding, and properties. Not thread-safe. */
final class YcsbArguments {

  /**
   * A number of operations per second that no point reaches. A point with a fixed time gets this
   * number as its operation count, because YCSB 0.17 always needs a count: it starts at most one
   * thread per operation, and no thread if the count is 0.
   */
  private static final int MOST_PER_SECOND = 50_000;

  private static final String MEASURED_WORKLOAD = "dev.onehop.ycsb.MeasuredWorkload";
  private static final int LOAD_THREADS = 8;
  private static final int LOAD_BATCH = 100;

  private final List<String> options;
  private final Map<String, String> properties;

  private YcsbArguments(
      String phase, Mode mode, int threads, Workload workload, String url, Path folder) {
    this.options = List.of(phase, "-s", "-db", mode.dbClass(), "-threads", String.valueOf(threads));
    this.properties = new LinkedHashMap<>(workload.properties());
    set("mongodb.url", url);
    set("status.interval", 1);
    set("onehop.summary", RunSummary.file(folder));
  }

  /**
   * Returns the arguments of a process that loads documents in batches, with the synchronous
   * driver: all documents, or one client's part of them.
   */
  static YcsbArguments load(YcsbClients clients, Path folder) {
    Workload workload = clients.workload();
    String url = clients.cluster().url().secret();
    YcsbArguments arguments =
        new YcsbArguments("-load", Mode.LEGACY, LOAD_THREADS, workload, url, folder)
            .set("insertcount", workload.records())
            // The load does not use this number. YCSB creates its zipfian generator even for the
            // load, and the generator needs a number.
            .set("operationcount", 0)
            .set("mongodb.batchsize", LOAD_BATCH)
            .set("onehop.connections", LOAD_THREADS);
    Integer part = clients.plan().index();
    if (part == null) {
      return arguments;
    }
    long from = clients.plan().begin(workload.records(), part);
    return arguments
        .set("insertstart", workload.insertStart() + from)
        .set("insertcount", clients.plan().part(workload.records(), part))
        .share(clients.plan(), part, "load");
  }

  /**
   * Returns the arguments of a process whose threads each start an operation when their previous
   * operation has ended.
   */
  static YcsbArguments closedLoop(PointCell cell, YcsbClients clients, Path folder) {
    return of("-t", cell, clients, folder)
        .set("onehop.workload", clients.workload().workloadClass())
        .set("workload", MEASURED_WORKLOAD)
        .set("measurementtype", "hdrhistogram")
        .set("hdrhistogram.fileoutput", true)
        .set("hdrhistogram.output.path", HdrLogs.prefix(folder));
  }

  /** Returns the arguments of a process that issues operations at intended times. */
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
            .set("onehop.connections", cell.connections())
            .set("onehop.warmup", cell.load().warmup().most().toMillis());
    Duration least = cell.load().warmup().least();
    if (least != null) {
      arguments.set("onehop.warmup.least", least.toMillis());
    }
    if (cell.pipelining()) {
      arguments.set("onehop.pipelining", true);
    }
    if (workload.inserts()) {
      // Each point inserts the same new keys, so a later point replaces documents of an earlier
      // point.
      arguments.set("mongodb.upsert", true);
    }
    return arguments;
  }

  /** Fixes the time of a closed loop. */
  YcsbArguments during(Duration time) {
    return set("operationcount", MOST_PER_SECOND * Math.max(1, time.toSeconds()))
        .set("onehop.duration", time.toMillis());
  }

  /**
   * Makes the process one of several clients, which start together.
   *
   * @param what the name of the point, unique in the run
   */
  YcsbArguments client(ClientPlan clients, int index, String what) {
    boolean ends = MEASURED_WORKLOAD.equals(properties.get("workload"));
    return set(ends ? "onehop.workload" : "workload", ClientWorkload.class.getName())
        .share(clients, index, what);
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

  /** Returns the arguments. They include the cluster's password. */
  List<String> list() {
    List<String> arguments = new ArrayList<>(options);
    properties.forEach((name, value) -> arguments.addAll(List.of("-p", name + "=" + value)));
    return arguments;
  }

  /** Returns the file with the latencies of each second of a run at a fixed rate. */
  static Path latencies(Path folder) {
    return folder.resolve("latencies.hlog");
  }
}
