package dev.onehop.measure.delivery;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.resync.Progress;
import dev.onehop.testbed.evidence.CpuTimes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * Measures one point: starts its consumers, has rows written, compares what was seen. Used once.
 */
final class PointRun {

  private static final long POLL_MILLIS = 50;

  private final ConsumePlan plan;
  private final ConsumePlan.Point point;
  private final BenchCluster cluster;
  private final RowCollection collection;
  private final boolean oneClock;
  private final Path out;
  private final Progress progress;
  private @Nullable ConsumerGroup group; // guarded by this
  private boolean stopped; // guarded by this

  /**
   * @param oneClock whether servers have this machine's clock
   * @param out the results' folder
   */
  PointRun(
      ConsumePlan plan,
      ConsumePlan.Point point,
      BenchCluster cluster,
      RowCollection collection,
      boolean oneClock,
      Path out,
      Progress progress) {
    this.plan = plan;
    this.point = point;
    this.cluster = cluster;
    this.collection = collection;
    this.oneClock = oneClock;
    this.out = out;
    this.progress = progress;
  }

  /** Reads a backlog once unmeasured, so that consumers are warm, and then measured. */
  ConsumePoint drain(Backlog backlog) throws IOException, InterruptedException {
    try (ConsumerGroup consumers = start(backlog.run(), backlog.start())) {
      progress.state("warming up");
      consumers.open();
      consumers.awaitRows(backlog.count(), seen -> showRead(seen, backlog.count()));
      List<ConsumerReport> unmeasured = consumers.reports();
      long rows = unmeasured.stream().mapToLong(ConsumerReport::rows).sum();
      if (rows < backlog.count()) {
        progress.note(
            "%s: %d of %d rows came while warming up"
                .formatted(point.title(), rows, backlog.count()));
      }
      progress.state("");
      ServerUse use = new ServerUse();
      consumers.open();
      consumers.awaitRows(backlog.count(), seen -> showRead(seen, backlog.count()));
      use.end();
      consumers.settle();
      List<ConsumerReport> reports = consumers.reports();
      return result(
          Measured.drain(reports),
          use,
          Verdict.of(backlog.rows(), consumers.seenRows(), doubled(reports), outOfOrder(reports)),
          null,
          consumers);
    }
  }

  private void showRead(long seen, long of) {
    progress.state(String.format(Locale.ROOT, "%,d of %,d rows", seen, of));
  }

  /**
   * Reads rows while they are written.
   *
   * @param run marks them
   */
  ConsumePoint live(int run) throws IOException, InterruptedException {
    boolean idle = point.kind().equals(ConsumePoint.IDLE);
    HashRanges hashes = idle ? collection.withoutOneShard() : HashRanges.all();
    Double rate = idle ? (Double) plan.idleRate() : plan.rate();
    try (ConsumerGroup consumers = start(run, collection.now())) {
      consumers.open();
      RowWriter writer = RowWriter.start(collection.rows(), run, hashes, rate, Long.MAX_VALUE);
      try {
        long from = Clock.micros() + micros(plan.warmup());
        long to = from + micros(plan.duration());
        consumers.setWindow(from, to);
        watchUntil(from, writer, consumers);
        ServerUse use = new ServerUse();
        long writtenBefore = writer.acknowledged();
        watchUntil(to, writer, consumers);
        double written =
            (writer.acknowledged() - writtenBefore) / (plan.duration().toNanos() / 1e9);
        use.end();
        writer.stop();
        long rows = writer.acknowledged();
        consumers.awaitRows(rows, seen -> showRead(seen, rows));
        consumers.settle();
        List<ConsumerReport> reports = consumers.reports();
        return result(
            new Measured(reports, from, to),
            use,
            Verdict.of(
                writer.versions(), consumers.seenRows(), doubled(reports), outOfOrder(reports)),
            written,
            consumers);
      } finally {
        writer.abandon();
      }
    }
  }

  private static long micros(Duration duration) {
    return duration.toNanos() / 1_000;
  }

  private void watchUntil(long micros, RowWriter writer, ConsumerGroup consumers)
      throws InterruptedException {
    long left;
    while ((left = micros - Clock.micros()) > 0) {
      Thread.sleep(Math.min(POLL_MILLIS, left / 1_000 + 1));
      writer.check();
      consumers.check();
      progress.state(
          String.format(
              Locale.ROOT, "%,d written, %,d read", writer.acknowledged(), consumers.seen()));
    }
  }

  private ConsumerGroup start(int run, BsonTimestamp from)
      throws IOException, InterruptedException {
    progress.state("starting consumers");
    List<ConsumerTask> tasks = new ArrayList<>();
    Path authority = cluster.url().authority();
    for (int i = 0; i < point.processes(); i++) {
      tasks.add(
          new ConsumerTask(
              cluster.url().secret(),
              authority == null ? null : authority.toString(),
              cluster.url().database(),
              RowCollection.NAME,
              run,
              point.source().label(),
              point.total(),
              point.channels(),
              i,
              point.processes(),
              from.getTime(),
              from.getInc(),
              folder().resolve("consumer-" + i).toAbsolutePath().toString()));
    }
    ConsumerGroup consumers = ConsumerGroup.start(tasks);
    synchronized (this) {
      group = consumers;
      if (stopped) {
        consumers.stop();
      }
    }
    return consumers;
  }

  private Path folder() {
    return out.resolve(point.folder());
  }

  /** Ends it; callable from any thread. */
  synchronized void stop() {
    stopped = true;
    if (group != null) {
      group.stop();
    }
  }

  private static long doubled(List<ConsumerReport> reports) {
    return reports.stream().mapToLong(ConsumerReport::doubled).sum();
  }

  private static long outOfOrder(List<ConsumerReport> reports) {
    return reports.stream().mapToLong(ConsumerReport::outOfOrder).sum();
  }

  private ConsumePoint result(
      Measured measured,
      ServerUse use,
      Verdict verdict,
      @Nullable Double written,
      ConsumerGroup consumers)
      throws IOException {
    for (Path each : consumers.folders()) {
      Files.delete(each.resolve(RowConsumer.SEEN)); // Large, and compared by now.
    }
    boolean lags = written != null;
    if (lags) {
      HdrLogs.merge(consumers.folders(), folder());
    }
    double rate = measured.rowsPerSecond();
    double cores = measured.cores();
    return new ConsumePoint(
        point.source().label(),
        point.order(),
        point.channels(),
        point.processes(),
        point.kind(),
        verdict.rows(),
        rounded(measured.seconds(), 1000),
        rounded(rate, 10),
        rate > 0 ? rounded(1e6 / rate, 1000) : 0,
        cores > 0 ? (Double) rounded(cores, 1000) : null,
        cores > 0 ? (Double) rounded(rate / cores, 10) : null,
        use.routers(),
        use.mongods(),
        measured.memoryBytes(),
        rounded(measured.bytesPerSecond() * 8 / 1e6, 10),
        written == null ? null : (Double) rounded(written, 10),
        lags && oneClock ? lag(ConsumePoint.LAG_LOG) : null,
        lags ? lag(ConsumePoint.SINCE_ISSUED_LOG) : null,
        verdict.lost(),
        verdict.doubled(),
        verdict.outOfOrder(),
        verdict.unexpected(),
        measured.negativeLags(),
        measured.windows(),
        point.folder());
  }

  private @Nullable LatencySummary lag(String name) {
    return HdrLogs.merged(folder(), name).map(LatencySummary::of).orElse(null);
  }

  private static double rounded(double value, double unit) {
    return Math.round(value * unit) / unit;
  }

  /** Processors that servers keep busy, from when it is made to when it is ended. */
  private final class ServerUse {
    private final CpuTimes before = cluster.cpuTimes();
    private final long began = System.nanoTime();
    private @Nullable Double routers;
    private @Nullable Double mongods;

    void end() {
      double seconds = (System.nanoTime() - began) / 1e9;
      CpuTimes after = cluster.cpuTimes();
      routers = cores(before.routers(), after.routers(), seconds);
      mongods = cores(before.mongods(), after.mongods(), seconds);
    }

    @Nullable Double routers() {
      return routers;
    }

    @Nullable Double mongods() {
      return mongods;
    }

    private static @Nullable Double cores(
        @Nullable Duration from, @Nullable Duration to, double seconds) {
      return from == null || to == null || seconds <= 0
          ? null
          : (Double) rounded(to.minus(from).toNanos() / 1e9 / seconds, 1000);
    }
  }
}
