package dev.onehop.measure.delivery;

import dev.onehop.measure.frame.Session;
import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.HdrLogs;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.testbed.evidence.CpuTimes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * Measures one point of {@code onehop consume}. It starts the consumers and writers, and compares
 * the received rows with the written rows. An instance measures once.
 *
 * @param oneClock whether the servers use this machine's clock
 */
record PointRun(
    ConsumePlan plan,
    ConsumePlan.Point point,
    RowCollection collection,
    boolean oneClock,
    Session session) {

  private static final long POLL_MILLIS = 50;

  /**
   * The largest number of bulk writes per second. With fewer rows per second, each write has one
   * row.
   */
  private static final int MOST_WRITES = 100;

  /** The numbers of processors that the routers and the mongods kept busy; null if unknown. */
  private record ServerUse(@Nullable Double routers, @Nullable Double mongods) {
    static ServerUse between(CpuTimes from, CpuTimes to, double seconds) {
      return new ServerUse(
          cores(from.routers(), to.routers(), seconds),
          cores(from.mongods(), to.mongods(), seconds));
    }

    private static @Nullable Double cores(
        @Nullable Duration from, @Nullable Duration to, double seconds) {
      return from == null || to == null || seconds <= 0
          ? null
          : (Double) rounded(to.minus(from).toNanos() / 1e9 / seconds, 1000);
    }
  }

  /**
   * Reads a backlog twice. The first time is the warm-up of the consumers, and the second time is
   * measured.
   */
  ConsumePoint drain(ConsumeBench.Backlog backlog) throws IOException, InterruptedException {
    try (Consumers consumers = new Consumers()) {
      consumers.start(tasks(backlog.run(), backlog.start()));
      consumers.open();
      consumers.awaitRows(backlog.count(), seen -> showRead("warming up, ", seen, backlog.count()));
      long rows = sum(consumers.reports(), ConsumerReport::rows);
      if (rows < backlog.count()) {
        session
            .progress()
            .note(
                "%s: %d of %d rows arrived during the warm-up"
                    .formatted(point.title(), rows, backlog.count()));
      }
      CpuTimes before = session.cluster().cpuTimes();
      long began = System.nanoTime();
      consumers.open();
      consumers.awaitRows(backlog.count(), seen -> showRead("", seen, backlog.count()));
      double seconds = (System.nanoTime() - began) / 1e9;
      ServerUse use = ServerUse.between(before, session.cluster().cpuTimes(), seconds);
      consumers.settle();
      List<ConsumerReport> reports = consumers.reports();
      return result(
          WindowStats.drain(reports),
          use,
          verdict(backlog.rows(), consumers, reports),
          null,
          consumers);
    }
  }

  private void showRead(String what, long seen, long of) {
    session.progress().state(String.format(Locale.ROOT, "%s%,d of %,d rows", what, seen, of));
  }

  /**
   * Reads rows while they are written.
   *
   * @param run the number that marks the rows
   */
  ConsumePoint live(int run) throws IOException, InterruptedException {
    HashRanges hashes =
        point.kind().equals(ConsumePoint.IDLE)
            ? collection.placement().withoutOneShard()
            : HashRanges.all();
    Double rate = plan.rate(point);
    try (Consumers consumers = new Consumers();
        RowWriter writer = ConsumeBench.writer(collection, run, hashes)) {
      consumers.start(tasks(run, collection.now()));
      consumers.open();
      if (rate == null) {
        writer.start(Long.MAX_VALUE);
      } else {
        writer.start(rate, MOST_WRITES);
      }
      long from = SteadyClock.micros() + plan.warmup().toNanos() / 1_000;
      long to = from + plan.duration().toNanos() / 1_000;
      consumers.setWindow(from, to);
      watchUntil(from, writer, consumers);
      CpuTimes before = session.cluster().cpuTimes();
      long began = System.nanoTime();
      long writtenBefore = writer.acknowledged();
      watchUntil(to, writer, consumers);
      double written = (writer.acknowledged() - writtenBefore) / (plan.duration().toNanos() / 1e9);
      double seconds = (System.nanoTime() - began) / 1e9;
      ServerUse use = ServerUse.between(before, session.cluster().cpuTimes(), seconds);
      writer.stop();
      long rows = writer.acknowledged();
      consumers.awaitRows(rows, seen -> showRead("catching up, ", seen, rows));
      consumers.settle();
      List<ConsumerReport> reports = consumers.reports();
      return result(
          new WindowStats(reports, from, to),
          use,
          verdict(writer.versions(), consumers, reports),
          written,
          consumers);
    }
  }

  private void watchUntil(long micros, RowWriter writer, Consumers consumers)
      throws InterruptedException {
    long since = SteadyClock.micros();
    long written = writer.acknowledged();
    long read = consumers.seen();
    long left;
    while ((left = micros - SteadyClock.micros()) > 0) {
      Thread.sleep(Math.min(POLL_MILLIS, left / 1_000 + 1));
      writer.check();
      consumers.check();
      double seconds = (SteadyClock.micros() - since) / 1e6;
      if (seconds >= 1) {
        session
            .progress()
            .state(
                String.format(
                    Locale.ROOT,
                    "%,.0f rows/s written, %,.0f read, %,d behind",
                    (writer.acknowledged() - written) / seconds,
                    (consumers.seen() - read) / seconds,
                    Math.max(0, writer.acknowledged() - consumers.seen())));
        since = SteadyClock.micros();
        written = writer.acknowledged();
        read = consumers.seen();
      }
    }
  }

  private List<ConsumerMain.Task> tasks(int run, BsonTimestamp from) {
    session.progress().state("starting consumers");
    List<ConsumerMain.Task> tasks = new ArrayList<>();
    for (int i = 0; i < point.processes(); i++) {
      tasks.add(
          new ConsumerMain.Task(
              session.cluster().url(),
              run,
              point,
              i,
              from.getValue(),
              folder().resolve("consumer-" + i)));
    }
    return tasks;
  }

  private Path folder() {
    return session.folder().resolve(point.folder());
  }

  private static long sum(List<ConsumerReport> reports, ToLongFunction<ConsumerReport> figure) {
    return reports.stream().mapToLong(figure).sum();
  }

  private static RowChecker.Verdict verdict(
      RowSet written, Consumers consumers, List<ConsumerReport> reports) throws IOException {
    return RowChecker.Verdict.of(
        written,
        consumers.rows(),
        sum(reports, ConsumerReport::doubled),
        sum(reports, ConsumerReport::outOfOrder));
  }

  private ConsumePoint result(
      WindowStats measured,
      ServerUse use,
      RowChecker.Verdict verdict,
      @Nullable Double written,
      Consumers consumers)
      throws IOException {
    for (Path each : consumers.folders()) {
      Files.delete(
          each.resolve(ConsumerMain.ROWS)); // the file is large, and the comparison is done
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
}
