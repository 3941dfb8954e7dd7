package dev.onehop.measure.delivery;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.results.PropagateMeasurement;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.StringJoiner;
import java.util.function.BiConsumer;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Measures the time until written rows arrive, by all paths at the same time. It writes the rows of
 * a test and then the signals of the test, and waits until all of them have arrived. The first test
 * does not count. An instance measures once.
 */
final class Propagation {

  private static final long POLL_MILLIS = 1;

  /** The interval of progress reports, in microseconds. */
  private static final long SHOW_MICROS = 250_000;

  private final PropagatePlan plan;
  private final PropagatePlan.Point point;
  private final RowCollection collection;
  private final Signals signals;
  private final Session session;
  private final boolean withMajority;
  private final MajorityProbe probe;
  private final Map<StreamPath, Reading> readings = new EnumMap<>(StreamPath.class);

  /** The open stream of a path, with the rows that have arrived. */
  private record Reading(Findings findings, ArrivalLog log, EventStream stream) {

    static Reading open(StreamPath path, StreamRequest events, int run) {
      Findings findings = Findings.of(Findings.LATENCY, Findings.SERVICE, Findings.TEST);
      ArrivalLog log =
          new ArrivalLog(
              run,
              (row, event, seen) -> {
                if (row.group() > 0) {
                  findings.arrived(row, seen);
                }
              });
      return new Reading(findings, log, EventStream.open(path, events, log));
    }
  }

  /**
   * Creates a measurement.
   *
   * @param signals are written after the rows of each test; the rows of each test have a separate
   *     group
   */
  Propagation(
      PropagatePlan plan,
      PropagatePlan.Point point,
      RowCollection collection,
      Signals signals,
      Session session) {
    this.plan = plan;
    this.point = point;
    this.collection = collection;
    this.signals = signals;
    this.session = session;
    this.withMajority = point.measurement() == Measurement.CLIENT_TO_MONGO;
    this.probe = new MajorityProbe(collection.rows());
  }

  /** Runs the measurement. */
  List<PropagateMeasurement> measure(Path folder) throws InterruptedException {
    ClusterUrl url = session.cluster().url();
    boolean plain = point.measurement() == Measurement.MONGO_TO_CLIENT;
    try (MongoClient writes = plain ? Clients.plain(url) : Clients.oneHop(url)) {
      StreamRequest events = collection.events(collection.now(), plan.await(), plan.total());
      for (StreamPath path : StreamPath.TIMED) {
        readings.put(path, Reading.open(path, events, signals.run()));
      }
      RowSet written = write(collection.rows(writes));
      Thread.sleep(Subscription.SETTLE_MILLIS);
      check();
      Map<String, Findings> found = new LinkedHashMap<>();
      long expected = (plan.tests() + 1L) * signals.shards().size();
      readings.forEach(
          (path, its) -> {
            its.log.close();
            RowChecker.Verdict verdict = its.log.checker().verdict(written);
            its.findings.faults(verdict.lost() + expected - its.log.signals(), verdict.doubled());
            found.put(path.label(), its.findings);
          });
      if (withMajority) {
        found.put(PropagateMeasurement.MAJORITY, probe.findings());
      }
      return Findings.write(found, point, 1, plan.tests(), folder);
    } finally {
      probe.close();
      readings.values().forEach(each -> each.stream.close());
    }
  }

  /**
   * Writes the rows of all tests, and waits for the arrival of each test's rows. Returns the
   * acknowledged rows.
   */
  private RowSet write(MongoCollection<RawBsonDocument> rows) throws InterruptedException {
    BiConsumer<RawBsonDocument, Row> listener = withMajority ? probe::begins : (last, row) -> {};
    try (RowWriter writer =
        new RowWriter(
            rows, new RowWriter.Kind(signals.run(), 0, point.bytes(), 0, 1), HashRanges.all())) {
      writer.onWrite(listener);
      for (int test = 0; test <= plan.tests(); test++) {
        long began = SteadyClock.micros();
        int writes = 0;
        for (int from = 0; from < point.documents(); from += point.batch()) {
          int count = Math.min(point.batch(), point.documents() - from);
          writer.insert(test, count, due(began, writes++));
        }
        Long due = due(began, writes);
        signals.write(rows, test, test, due == null ? SteadyClock.micros() : due, listener);
        await(test);
        note(test, began);
        if (test == 0 && readings.values().stream().allMatch(each -> each.log.rows() == 0)) {
          throw Failure.run(
              "no written object arrived; do writer and reader use the same cluster?", null);
        }
      }
      return writer.versions();
    }
  }

  /**
   * Waits until a write is due at the rate, and returns this time. Returns null without a rate:
   * each write then begins when the previous write has ended.
   */
  private @Nullable Long due(long began, int write) throws InterruptedException {
    Double rate = plan.rate();
    return rate == null ? null : (Long) SteadyClock.awaitDue(began, write, rate);
  }

  private boolean isComplete(Reading reading, int test) {
    return reading.log.rows(test) == point.documents()
        && reading.log.signalled(signals.numbers(test)).isPresent();
  }

  private void await(int test) throws InterruptedException {
    long most = -1;
    long shown = 0;
    long lastNew = SteadyClock.micros();
    while (!readings.values().stream().allMatch(each -> isComplete(each, test))) {
      Thread.sleep(POLL_MILLIS);
      check();
      long seen =
          readings.values().stream().mapToLong(each -> each.log.rows() + each.log.signals()).sum();
      long now = SteadyClock.micros();
      if (now - shown > SHOW_MICROS) {
        shown = now;
        showSeen(test);
      }
      if (seen > most) {
        most = seen;
        lastNew = now;
      } else if (signals.areLate(lastNew)) {
        return;
      }
    }
  }

  private void showSeen(int test) {
    StringJoiner each = new StringJoiner(", ");
    readings.forEach((path, its) -> each.add(path.label() + " " + its.log.rows(test)));
    session
        .progress()
        .state(
            "test %d of %d, arrived of %,d objects: %s"
                .formatted(test, plan.tests(), point.documents(), each));
  }

  private void check() throws InterruptedException {
    readings.forEach((path, its) -> its.stream.check(path));
    probe.check();
  }

  private void note(int test, long began) {
    StringJoiner each = new StringJoiner(", ");
    long slowest = 0;
    boolean complete = true;
    for (Map.Entry<StreamPath, Reading> entry : readings.entrySet()) {
      Reading reading = entry.getValue();
      OptionalLong last = reading.log.signalled(signals.numbers(test));
      if (last.isPresent()) {
        long micros = last.getAsLong() - began;
        slowest = Math.max(slowest, micros);
        each.add(entry.getKey().label() + " " + Math.round(micros / 1000.0));
        if (test > 0) {
          reading.findings.times(Findings.TEST).add(micros);
        }
      }
      complete &= isComplete(reading, test);
    }
    String how = complete ? "completed" : "NOT COMPLETED";
    session.progress().note(iteration(test, how, slowest, each));
  }

  /**
   * Returns the line about a test.
   *
   * @param test the number of the test; the first is the warm-up
   * @param slowest the longest time, in microseconds
   * @param each the times by path
   */
  static String iteration(int test, String how, long slowest, StringJoiner each) {
    return "%s %s in %d ms (%s)"
        .formatted(
            test == 0 ? "Warm-up" : "Iteration " + (test - 1),
            how,
            Math.round(slowest / 1000.0),
            each);
  }
}
