package dev.onehop.measure.copying;

import dev.onehop.copy.verify.VerifyReport;
import dev.onehop.measure.copying.CopyCell.Scene;
import dev.onehop.measure.copying.ToolProcess.Copier;
import dev.onehop.measure.copying.ToolProcess.Verifier;
import dev.onehop.measure.copying.WriteRate.Written;
import dev.onehop.measure.frame.ProcessUse;
import dev.onehop.measure.frame.Sampler;
import dev.onehop.measure.results.CopyBenchRun;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.resync.Progress;
import dev.onehop.testbed.Testbed;
import java.time.Duration;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/** A source with its data, a destination, and tools that copy in turn. */
final class CopyScene {
  private static final int RANGES = 48;
  private static final double PER_SECOND = 1e9;
  private static final Duration PAUSE = Duration.ofMillis(100);

  /** The time for which writes run before lags are measured. */
  private static final Duration WARM_UP = Duration.ofSeconds(3);

  private static final Duration QUICK_WARM_UP = Duration.ofSeconds(1);

  private final CopyBenchPlan plan;
  private final Scene what;
  private final CopyEnd source;
  private final CopyEnd destination;
  private final Map<CopyTool, ToolProcess> tools;
  private final Progress progress;
  private final Workload workload;
  private final Map<CopyTool, Backlog> backlogs = new EnumMap<>(CopyTool.class);
  private @Nullable RangeMover mover;
  private int written = -1;

  /** The changes that a tool has not applied yet: their start and their number. */
  private record Backlog(BsonTimestamp since, long changes) {}

  CopyScene(
      CopyBenchPlan plan,
      Scene what,
      CopyEnd source,
      CopyEnd destination,
      Map<CopyTool, ToolProcess> tools,
      Progress progress) {
    this.plan = plan;
    this.what = what;
    this.source = source;
    this.destination = destination;
    this.tools = tools;
    this.progress = progress;
    this.workload = new Workload(source.client());
  }

  boolean is(Scene other) {
    return what.equals(other);
  }

  private ToolProcess process(CopyTool tool) {
    return Objects.requireNonNull(tools.get(tool));
  }

  private Backlog missed(CopyTool tool) {
    return Objects.requireNonNull(backlogs.get(tool));
  }

  private Copier copier(CopyTool tool) {
    return (Copier) process(tool);
  }

  /**
   * Loads the source again. Before copies of changes, each tool then makes a full copy. Before
   * comparisons, only OneHop makes a full copy.
   */
  void open() throws InterruptedException {
    load();
    boolean verify = plan.kinds().contains(CopyBenchRun.VERIFY);
    for (CopyTool tool : verify ? List.of(CopyTool.ONEHOP) : what.tools()) {
      if (what.changes() || verify) {
        progress.state("copying with " + tool.label() + ", unmeasured");
        copier(tool).prepare();
        copier(tool).full(names());
        backlogs.put(tool, new Backlog(source.now(), 0));
      }
    }
  }

  private List<String> names() {
    return IntStream.range(0, what.collections()).mapToObj(Workload::collection).toList();
  }

  private void load() throws InterruptedException {
    progress.state("writing " + plan.records() + " documents");
    source.drop(Workload.DATABASE);
    Testbed testbed = source.testbed();
    if (testbed == null) {
      workload.load(plan.records(), what.collections());
      return;
    }
    List<BsonDocument> bounds = YcsbDocuments.bounds(RANGES);
    List<String> namespaces = names().stream().map(name -> Workload.DATABASE + "." + name).toList();
    for (String namespace : namespaces) {
      testbed.shardCollection(namespace, new BsonDocument("_id", new BsonInt32(1)), bounds);
    }
    workload.load(plan.records(), what.collections());
    mover = new RangeMover(testbed, namespaces, bounds);
  }

  CopyBenchRun measure(CopyCell cell) throws InterruptedException {
    progress.state("");
    return switch (cell.kind()) {
      case CopyBenchRun.FULL -> full(cell);
      case CopyBenchRun.LAG -> lag(cell);
      case CopyBenchRun.VERIFY -> verify(cell);
      default -> backlog(cell);
    };
  }

  private long documents() {
    return (long) (plan.records() / what.collections()) * what.collections();
  }

  private CopyBenchRun full(CopyCell cell) throws InterruptedException {
    copier(cell.tool()).prepare();
    CopyBenchRun run =
        measure(
            cell,
            () -> {
              copier(cell.tool()).full(names());
              return Done.of(documents());
            });
    destination.drop(cell.tool().database());
    return run;
  }

  /**
   * Measures a tool that applies a backlog of changes. The changes are written before the first
   * tool of a round.
   */
  private CopyBenchRun backlog(CopyCell cell) throws InterruptedException {
    if (cell.round() != written) {
      progress.state("writing " + plan.operations() + " inserts and updates");
      BsonTimestamp before = source.now();
      workload.write(plan.operations());
      what.tools().forEach(tool -> backlogs.put(tool, new Backlog(before, plan.operations())));
      written = cell.round();
      progress.state("");
    }
    Copier tool = copier(cell.tool());
    Backlog missed = missed(cell.tool());
    CopyBenchRun run =
        measure(
            cell,
            () -> {
              tool.follow(missed.since());
              tool.await(missed.changes());
              tool.unfollow();
              return Done.of(missed.changes());
            });
    backlogs.put(cell.tool(), new Backlog(source.now(), 0));
    return run;
  }

  /**
   * Measures a comparison. The result's time is the time of the whole command, because a comparison
   * writes nothing.
   */
  private CopyBenchRun verify(CopyCell cell) throws InterruptedException {
    return measure(
        cell,
        () -> {
          long begun = System.nanoTime();
          ((Verifier) process(cell.tool())).verify(names());
          return new Done(documents(), null, null, (System.nanoTime() - begun) / PER_SECOND);
        });
  }

  private CopyBenchRun lag(CopyCell cell) throws InterruptedException {
    Backlog waiting = missed(cell.tool());
    CopyBenchRun run = measure(cell, () -> lag(cell.tool(), waiting));
    long written = run.documents() - waiting.changes();
    backlogs.replaceAll((tool, missed) -> new Backlog(missed.since(), missed.changes() + written));
    backlogs.put(cell.tool(), new Backlog(source.now(), 0));
    return run;
  }

  /** Applies the waiting changes, and then measures the lags of new writes. */
  private Done lag(CopyTool tool, Backlog waiting) throws InterruptedException {
    Copier process = copier(tool);
    process.follow(waiting.since());
    process.await(waiting.changes());
    long changes = waiting.changes();
    double rate;
    LagWatch watch =
        new LagWatch(destination, tool.database(), Workload.collection(0), destination.now());
    try (watch) {
      changes += workload.write(plan.rate(), plan.quick() ? QUICK_WARM_UP : WARM_UP);
      watch.begin();
      long begun = System.nanoTime();
      long measured = workload.write(plan.rate(), plan.duration());
      rate = measured * PER_SECOND / (System.nanoTime() - begun);
      watch.end();
      changes += measured;
      process.await(changes);
    }
    process.unfollow();
    return new Done(changes, rate, LatencySummary.of(watch.lags()), null);
  }

  /** The measured part of a copy. */
  @FunctionalInterface
  private interface Task {
    Done run() throws InterruptedException;
  }

  /**
   * The result of a measured part.
   *
   * @param documents the number of documents or changes
   * @param rate the writes per second; null to compute it from the destination's counters
   * @param lag the lags; null if they were not measured
   * @param seconds the total time in seconds; null for the time in which the destination was
   *     written
   */
  private record Done(
      long documents,
      @Nullable Double rate,
      @Nullable LatencySummary lag,
      @Nullable Double seconds) {
    static Done of(long documents) {
      return new Done(documents, null, null, null);
    }
  }

  /** Measures a copy, and verifies the copy if its result counts. */
  private CopyBenchRun measure(CopyCell cell, Task task) throws InterruptedException {
    limitRouters(cell.isMeasured());
    ToolProcess tool = process(cell.tool());
    ProcessUse usedBefore = tool.use();
    CopyEnd.Counts sourceBefore = source.counts();
    CopyEnd.Counts destinationBefore = destination.counts();
    Done done;
    Written wrote;
    if (mover != null) {
      mover.start();
    }
    int moves;
    try (Sampler<Long> sampler = Sampler.start(PAUSE, destination::written)) {
      done = task.run();
      wrote = WriteRate.of(sampler.stop());
    } finally {
      moves = mover == null ? 0 : mover.stop();
    }
    ProcessUse used = tool.use();
    CopyEnd.Counts given = source.counts().since(sourceBefore);
    CopyEnd.Counts taken = destination.counts().since(destinationBefore);
    Map<String, Double> perRouter = new LinkedHashMap<>();
    taken.routed().forEach((router, count) -> perRouter.put(router, count / wrote.seconds()));
    Double whole = done.seconds();
    double seconds = whole == null ? wrote.seconds() : whole;
    double perSecond = done.documents() * (whole == null ? 1 - 2 * WriteRate.MARGIN : 1) / seconds;
    return new CopyBenchRun(
        cell.kind().equals(CopyBenchRun.LAG) ? CopyBenchRun.INCREMENTAL : cell.kind(),
        what.pair().source(),
        what.pair().destination(),
        what.collections(),
        cell.tool().label(),
        cell.round(),
        done.documents(),
        whole == null ? wrote.startSeconds() : 0,
        seconds,
        done.rate() == null ? perSecond : done.rate(),
        given.returned(),
        taken.written(),
        perRouter,
        used.cpu().minus(usedBefore.cpu()).toNanos() / PER_SECOND,
        given.cpu().routers().plus(taken.cpu().routers()).toNanos() / PER_SECOND,
        given.cpu().mongods().plus(taken.cpu().mongods()).toNanos() / PER_SECOND,
        used.memoryBytes(),
        moves,
        !cell.isMeasured() || cell.kind().equals(CopyBenchRun.VERIFY) || isEqual(cell.tool()),
        done.lag(),
        wrote.series());
  }

  private void limitRouters(boolean measured) {
    Double share = plan.routerCpus();
    if (share != null) {
      // In the unmeasured round, routers are not limited, because the compiler of stand-in routers
      // needs processors.
      double now = measured ? share : Runtime.getRuntime().availableProcessors();
      source.limitRouters(now);
      destination.limitRouters(now);
    }
  }

  private boolean isEqual(CopyTool tool) throws InterruptedException {
    progress.state("comparing");
    VerifyReport report = OneHopCopy.compare(source.url(), destination.url(), tool);
    if (!report.isEqual()) {
      progress.note(
          "%s: %d missing, %d extra, %d different, %d unsettled: %s %s"
              .formatted(
                  tool.label(),
                  report.missing(),
                  report.extra(),
                  report.different(),
                  report.unsettled(),
                  report.details(),
                  report.metadata()));
    }
    progress.state("");
    return report.isEqual();
  }

  /** Removes the data of the source and the destination. */
  void close() {
    what.tools().forEach(tool -> destination.drop(tool.database()));
    source.drop(Workload.DATABASE);
  }
}
