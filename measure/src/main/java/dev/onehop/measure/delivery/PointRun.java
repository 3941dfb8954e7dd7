package dev.onehop.measure.delivery;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.onehop.measure.frame.Session;
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
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
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

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final long POLL_MILLIS = 50;

  /**
   * The wait after the last row, in milliseconds. Rows that arrive again during this wait are still
   * counted.
   */
  private static final long SETTLE_MILLIS = 500;

  /**
   * The largest number of bulk writes per second. With fewer rows per second, each write has one
   * row.
   */
  private static final int MOST_WRITES = 100;

  /** The processor time of the servers at the begin and at the end of a time. */
  private record ServerUse(CpuTimes from, CpuTimes to, double seconds) {

    /** The number of processors that some servers kept busy; null if unknown. */
    @Nullable Double cores(Function<CpuTimes, @Nullable Duration> servers) {
      Duration before = servers.apply(from);
      Duration after = servers.apply(to);
      return before == null || after == null || seconds <= 0
          ? null
          : (Double) rounded(after.minus(before).toNanos() / 1e9 / seconds, 1000);
    }
  }

  /**
   * Reads a backlog twice. The first time is the warm-up of the consumers, and the second time is
   * measured.
   */
  ConsumePoint drain(ConsumeBench.Backlog backlog) throws IOException, InterruptedException {
    try (Children consumers = consumers()) {
      start(consumers, backlog.run(), backlog.start());
      consumers.awaitRows(backlog.count(), seen -> showRead("warming up, ", seen, backlog.count()));
      long rows = sum(reports(consumers), ConsumerReport::rows);
      if (rows < backlog.count()) {
        String arrived = "%s: %d of %d rows arrived during the warm-up";
        session.progress().note(arrived.formatted(point.title(), rows, backlog.count()));
      }
      CpuTimes before = session.cluster().cpuTimes();
      long began = System.nanoTime();
      open(consumers);
      consumers.awaitRows(backlog.count(), seen -> showRead("", seen, backlog.count()));
      double seconds = (System.nanoTime() - began) / 1e9;
      ServerUse use = new ServerUse(before, session.cluster().cpuTimes(), seconds);
      Thread.sleep(SETTLE_MILLIS);
      List<ConsumerReport> reports = reports(consumers);
      return result(reports, WindowStats.drain(reports), use, backlog.rows(), null);
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
    try (Children consumers = consumers();
        RowWriter writer = ConsumeBench.writer(collection, run, hashes)) {
      start(consumers, run, collection.now());
      if (rate == null) {
        writer.start(Long.MAX_VALUE);
      } else {
        writer.start(rate, MOST_WRITES);
      }
      long from = SteadyClock.micros() + plan.warmup().toNanos() / 1_000;
      long to = from + plan.duration().toNanos() / 1_000;
      consumers.send(ConsumerMain.WINDOW + " " + from + " " + to);
      watchUntil(from, writer, consumers);
      CpuTimes before = session.cluster().cpuTimes();
      long began = System.nanoTime();
      long writtenBefore = writer.acknowledged();
      watchUntil(to, writer, consumers);
      double written = (writer.acknowledged() - writtenBefore) / (plan.duration().toNanos() / 1e9);
      double seconds = (System.nanoTime() - began) / 1e9;
      ServerUse use = new ServerUse(before, session.cluster().cpuTimes(), seconds);
      writer.stop();
      long rows = writer.acknowledged();
      consumers.awaitRows(rows, seen -> showRead("catching up, ", seen, rows));
      Thread.sleep(SETTLE_MILLIS);
      List<ConsumerReport> reports = reports(consumers);
      return result(reports, new WindowStats(reports, from, to), use, writer.versions(), written);
    }
  }

  private void watchUntil(long micros, RowWriter writer, Children consumers)
      throws InterruptedException {
    Progress progress = session.progress();
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
        progress.state(
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

  private static Children consumers() {
    return new Children("a consumer", List.of(), ConsumerMain.class);
  }

  /** Starts the processes, and opens their streams. */
  private void start(Children consumers, int run, BsonTimestamp from)
      throws IOException, InterruptedException {
    session.progress().state("starting consumers");
    List<Path> folders = folders();
    for (int i = 0; i < folders.size(); i++) {
      Path its = folders.get(i);
      consumers.start(
          new ConsumerMain.Task(session.cluster().url(), run, point, i, from.getValue(), its), its);
    }
    consumers.await(Children.READY, PATIENCE);
    open(consumers);
  }

  /**
   * Makes all processes open their streams at the same time, and waits until the streams are open.
   */
  private static void open(Children consumers) throws InterruptedException {
    consumers.send(ConsumerMain.OPEN);
    consumers.await(ConsumerMain.OPENED, PATIENCE);
  }

  /** Makes all processes close their streams, and returns their reports. */
  private static List<ConsumerReport> reports(Children consumers)
      throws IOException, InterruptedException {
    List<ConsumerReport> reports = new ArrayList<>();
    consumers.reports(
        ConsumerMain.CLOSE, PATIENCE, new TypeReference<ConsumerReport>() {}, reports::add);
    return reports;
  }

  private Path folder() {
    return session.folder().resolve(point.folder());
  }

  private List<Path> folders() {
    return IntStream.range(0, point.processes())
        .mapToObj(i -> folder().resolve("consumer-" + i))
        .toList();
  }

  private static long sum(List<ConsumerReport> reports, ToLongFunction<ConsumerReport> figure) {
    return reports.stream().mapToLong(figure).sum();
  }

  private RowChecker.Verdict verdict(List<ConsumerReport> reports, RowSet written)
      throws IOException {
    List<RowSet> seen = new ArrayList<>();
    for (Path each : folders()) {
      Path file = each.resolve(ConsumerMain.ROWS);
      seen.add(RowSet.read(file));
      Files.delete(file); // the file is large, and no other program reads it
    }
    return RowChecker.Verdict.of(
        written,
        seen,
        sum(reports, ConsumerReport::doubled),
        sum(reports, ConsumerReport::outOfOrder));
  }

  private ConsumePoint result(
      List<ConsumerReport> reports,
      WindowStats measured,
      ServerUse use,
      RowSet rows,
      @Nullable Double written)
      throws IOException {
    RowChecker.Verdict verdict = verdict(reports, rows);
    boolean lags = written != null;
    if (lags) {
      HdrLogs.merge(folders(), folder());
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
        use.cores(CpuTimes::routers),
        use.cores(CpuTimes::mongods),
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
