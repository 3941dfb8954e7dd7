package dev.onehop.measure.copying;

import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.ClusterCopy.Begin;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.verify.ClusterVerification;
import dev.onehop.copy.verify.VerifyReport;
import dev.onehop.measure.copying.WriteSampler.Written;
import dev.onehop.measure.results.CopyBenchRun;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.resync.Progress;
import dev.onehop.testbed.Testbed;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/** All copies from a source to a destination. */
final class PairRun {
  private static final int RANGES = 48;
  private static final double PER_SECOND = 1e9;

  /** How long writes go on before lags are measured. */
  private static final Duration WARM_UP = Duration.ofSeconds(3);

  private static final Duration QUICK_WARM_UP = Duration.ofSeconds(1);

  private final CopyBenchPlan plan;
  private final Progress progress;
  private final ClusterPair setup;
  private final Side source;
  private final Side destination;
  private final ToolProcesses workers;
  private final Consumer<CopyBenchRun> found;
  private final Workload workload;

  /**
   * Prepares it.
   *
   * @param found is given each copy that is measured
   */
  PairRun(
      CopyBenchPlan plan,
      Progress progress,
      ClusterPair setup,
      Side source,
      Side destination,
      ToolProcesses workers,
      Consumer<CopyBenchRun> found) {
    this.plan = plan;
    this.progress = progress;
    this.setup = setup;
    this.source = source;
    this.destination = destination;
    this.workers = workers;
    this.found = found;
    this.workload = new Workload(source.client());
  }

  void run() throws InterruptedException {
    if (plan.kinds().contains(CopyBenchRun.INCREMENTAL)
        || plan.kinds().contains(CopyBenchRun.LAG)) {
      changes();
    }
    if (plan.kinds().contains(CopyBenchRun.FULL)) {
      for (int collections : plan.collections()) {
        full(collections);
      }
    }
    source.drop(Workload.DATABASE);
  }

  /** Writes the source anew; null if it has no ranges. */
  private @Nullable RangeMover load(int collections) throws InterruptedException {
    progress.phase("writing " + plan.records() + " documents");
    source.drop(Workload.DATABASE);
    Testbed testbed = source.testbed();
    if (testbed == null) {
      workload.load(plan.records(), collections);
      return null;
    }
    List<BsonDocument> bounds = YcsbDocuments.bounds(RANGES);
    List<String> namespaces =
        names(collections).stream().map(name -> Workload.DATABASE + "." + name).toList();
    for (String namespace : namespaces) {
      testbed.shardCollection(namespace, new BsonDocument("_id", new BsonInt32(1)), bounds);
    }
    workload.load(plan.records(), collections);
    return new RangeMover(testbed, namespaces, bounds);
  }

  private static List<String> names(int collections) {
    return IntStream.range(0, collections).mapToObj(Workload::collection).toList();
  }

  private void full(int collections) throws InterruptedException {
    try (RangeMover mover = load(collections)) {
      long documents = (long) (plan.records() / collections) * collections;
      for (int round = firstRound(); round <= plan.rounds(); round++) {
        for (CopyTool way : order(round)) {
          Copy copy = new Copy(CopyBenchRun.FULL, collections, way, round);
          show(copy);
          create(way);
          measure(
              copy,
              mover,
              () -> {
                copyAll(way, collections);
                return documents;
              });
          destination.drop(way.label());
        }
      }
    }
  }

  /** A copy that is measured. */
  private record Copy(String kind, int collections, CopyTool way, int round) {

    boolean isMeasured() {
      return round > 0;
    }
  }

  private void show(Copy copy) {
    progress.phase(
        "%s, %s, %d of %d: %s"
            .formatted(
                copy.kind(),
                setup.label(),
                copy.round(),
                plan.rounds(),
                copy.isMeasured() ? copy.way().label() : copy.way().label() + ", unmeasured"));
  }

  /** Round 0 is not measured: compilers fill the processors of a small machine. */
  private int firstRound() {
    return plan.quick() ? 1 : 0;
  }

  /** Every other round begins with the other way. */
  private static List<CopyTool> order(int round) {
    return round % 2 == 0 ? List.of(CopyTool.ONE, CopyTool.OURS) : List.of(CopyTool.OURS, CopyTool.ONE);
  }

  /** The same for both ways: the destination is as OneHop makes it. */
  private void create(CopyTool way) throws InterruptedException {
    try (ClusterCopy copy =
        OneHopCopy.copy(
            way,
            source.url(),
            destination.url(),
            Begin.OVERWRITE,
            EnumSet.of(CopyPhase.STRUCTURE))) {
      copy.run();
    }
  }

  private void copyAll(CopyTool way, int collections) throws InterruptedException {
    workers.of(way).run("full " + String.join(" ", names(collections)));
  }

  /** What is measured. */
  @FunctionalInterface
  private interface Task {
    /** Does it, and says how many documents or changes it was. */
    long run() throws InterruptedException;
  }

  /** Measures a copy, and looks whether it is right; of an unmeasured round nothing is kept. */
  private void measure(Copy copy, @Nullable RangeMover mover, Task task)
      throws InterruptedException {
    measure(copy, mover, task, run -> run);
  }

  private void measure(
      Copy copy, @Nullable RangeMover mover, Task task, UnaryOperator<CopyBenchRun> finish)
      throws InterruptedException {
    Double routerCpus = plan.routerCpus();
    if (routerCpus != null) {
      // Where routers are stand-ins, the compiler needs processors first.
      double share = copy.isMeasured() ? routerCpus : Runtime.getRuntime().availableProcessors();
      source.limitRouters(share);
      destination.limitRouters(share);
    }
    ToolProcess worker = workers.of(copy.way());
    var unused = worker.use();
    Side.Counts sourceBefore = source.counts();
    Side.Counts destinationBefore = destination.counts();
    if (mover != null) {
      int unusedMoves = mover.moved();
      mover.setActive(true);
    }
    long documents;
    WriteSampler sampler = WriteSampler.start(destination);
    Written written;
    try {
      documents = task.run();
    } finally {
      written = sampler.stop();
    }
    if (mover != null) {
      mover.setActive(false);
    }
    ToolUse use = worker.use();
    Side.Counts given = source.counts().since(sourceBefore);
    Side.Counts taken = destination.counts().since(destinationBefore);
    if (!copy.isMeasured()) {
      return;
    }
    CopyBenchRun run =
        new CopyBenchRun(
            copy.kind().equals(CopyBenchRun.FULL) ? CopyBenchRun.FULL : CopyBenchRun.INCREMENTAL,
            setup.source(),
            setup.destination(),
            copy.collections(),
            copy.way().label(),
            copy.round(),
            documents,
            written.startSeconds(),
            written.seconds(),
            documents * (1 - 2 * WriteSampler.MARGIN) / written.seconds(),
            given.returned(),
            taken.written(),
            perSecond(taken.routed(), written.seconds()),
            use.cpuNanos() / PER_SECOND,
            given.routersCpu().plus(taken.routersCpu()).toNanos() / PER_SECOND,
            given.mongodsCpu().plus(taken.mongodsCpu()).toNanos() / PER_SECOND,
            use.memoryBytes(),
            mover == null ? 0 : mover.moved(),
            isEqual(copy.way()),
            null,
            written.series());
    found.accept(finish.apply(run));
  }

  private static Map<String, Double> perSecond(Map<String, Long> counts, double seconds) {
    Map<String, Double> rates = new LinkedHashMap<>();
    counts.forEach((server, count) -> rates.put(server, count / seconds));
    return rates;
  }

  private boolean isEqual(CopyTool way) throws InterruptedException {
    progress.state("comparing");
    VerifyReport report =
        ClusterVerification.builder(source.url(), destination.url())
            .include(List.of(Workload.DATABASE))
            .rename(Map.of(Workload.DATABASE, way.label()))
            .build()
            .run();
    if (!report.isEqual()) {
      progress.note(
          "%s: %d missing, %d extra, %d different, %d unsettled: %s %s"
              .formatted(
                  way.label(),
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

  private void changes() throws InterruptedException {
    try (RangeMover mover = load(1)) {
      for (CopyTool way : CopyTool.values()) {
        progress.phase("copying by way of " + way.label() + ", unmeasured");
        create(way);
        copyAll(way, 1);
      }
      if (plan.kinds().contains(CopyBenchRun.INCREMENTAL)) {
        backlogs(mover);
      }
      if (plan.kinds().contains(CopyBenchRun.LAG)) {
        lags(mover);
      }
    }
    for (CopyTool way : CopyTool.values()) {
      destination.drop(way.label());
    }
  }

  private void backlogs(@Nullable RangeMover mover) throws InterruptedException {
    for (int round = firstRound(); round <= plan.rounds(); round++) {
      progress.phase("writing " + plan.operations() + " inserts and updates");
      BsonTimestamp start = source.now();
      workload.write(plan.operations());
      for (CopyTool way : order(round)) {
        Copy copy = new Copy(CopyBenchRun.INCREMENTAL, 1, way, round);
        show(copy);
        ToolProcess worker = workers.of(way);
        measure(
            copy,
            mover,
            () -> {
              worker.run("follow " + start.getValue());
              worker.run("await " + plan.operations());
              worker.run("unfollow");
              return plan.operations();
            });
      }
    }
  }

  /** A round of lags of one way. */
  private final class Lags {
    private final CopyTool way;
    private final BsonTimestamp start;
    private final long missed;
    private long written;
    private double rate;
    private @Nullable LatencySummary summary;

    /**
     * Prepares it.
     *
     * @param start up to which the destination has everything
     * @param missed how many changes there were since then
     */
    Lags(CopyTool way, BsonTimestamp start, long missed) {
      this.way = way;
      this.start = start;
      this.missed = missed;
    }

    /** Follows, catches up, and watches what is written meanwhile; how many changes it was. */
    long run() throws InterruptedException {
      ToolProcess worker = workers.of(way);
      worker.run("follow " + start.getValue());
      worker.run("await " + missed);
      LagWatch watch =
          new LagWatch(destination, way.label(), Workload.collection(0), destination.now());
      try (watch) {
        written = workload.write(plan.rate(), plan.quick() ? QUICK_WARM_UP : WARM_UP);
        watch.begin();
        long begun = System.nanoTime();
        long measured = workload.write(plan.rate(), plan.duration());
        rate = measured * PER_SECOND / (System.nanoTime() - begun);
        watch.end();
        written += measured;
        worker.run("await " + (missed + written));
      }
      summary = LatencySummary.of(watch.lags());
      worker.run("unfollow");
      return missed + written;
    }
  }

  private void lags(@Nullable RangeMover mover) throws InterruptedException {
    Map<CopyTool, BsonTimestamp> places = new EnumMap<>(CopyTool.class);
    Map<CopyTool, Long> behind = new EnumMap<>(CopyTool.class);
    BsonTimestamp before = source.now();
    for (CopyTool way : CopyTool.values()) {
      places.put(way, before);
      behind.put(way, 0L);
    }
    for (int round = firstRound(); round <= plan.rounds(); round++) {
      for (CopyTool way : order(round)) {
        Copy copy = new Copy(CopyBenchRun.LAG, 1, way, round);
        show(copy);
        Lags lags =
            new Lags(
                way,
                Objects.requireNonNull(places.get(way)),
                Objects.requireNonNull(behind.get(way)));
        measure(
            copy,
            mover,
            lags::run,
            run -> run.withLag(lags.rate, Objects.requireNonNull(lags.summary)));
        places.put(way, source.now());
        behind.replaceAll((each, missed) -> each == way ? 0 : missed + lags.written);
      }
    }
  }
}
