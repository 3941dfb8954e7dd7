package dev.onehop.measure.delivery;

import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.PropagateMeasurement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The result of a measurement of {@code onehop propagate} by one path. Findings can be written as
 * JSON. Thread-safe.
 *
 * @param times the times by name
 * @param lost the number of lost versions
 * @param doubled the number of versions that arrived again
 */
record Findings(Map<String, Samples> times, AtomicLong lost, AtomicLong doubled) {

  /**
   * The name of the main times of a measurement. They last from the time when an object's write was
   * due until the object's arrival. In measurements of subscriptions, they last from the start of a
   * subscription until it is live.
   */
  static final String LATENCY = "latency";

  /** The name of the times from the start of an object's write until its arrival. */
  static final String SERVICE = "service";

  /**
   * The name of the times of whole tests. With many clients, these are the times until each
   * client's subscription is live.
   */
  static final String TEST = "test";

  /** The name of the times of reading snapshots. */
  static final String SNAPSHOT = "snapshot";

  /** Creates empty findings with times of these names. */
  static Findings of(String... names) {
    Map<String, Samples> times = new LinkedHashMap<>();
    for (String name : names) {
      times.put(name, new Samples());
    }
    return new Findings(times, new AtomicLong(), new AtomicLong());
  }

  /** Creates empty findings with times of these names, by the label of each path. */
  static Map<String, Findings> ofPaths(String... names) {
    Map<String, Findings> findings = new LinkedHashMap<>();
    StreamPath.TIMED.forEach(path -> findings.put(path.label(), of(names)));
    return findings;
  }

  /** Adds the times of a row that has arrived, as {@link #LATENCY} and {@link #SERVICE}. */
  void arrived(Row row, long seenMicros) {
    times(LATENCY).add(seenMicros - row.dueMicros());
    times(SERVICE).add(seenMicros - row.beganMicros());
  }

  /** Returns the times with a name. */
  Samples times(String name) {
    return Objects.requireNonNull(times.get(name));
  }

  /** Adds numbers of lost and of repeated versions. */
  void faults(long more, long again) {
    lost.addAndGet(more);
    doubled.addAndGet(again);
  }

  /** Adds the times and faults of other findings. */
  void addAll(Findings others) {
    times.forEach((name, samples) -> samples.addAll(others.times(name)));
    faults(others.lost.get(), others.doubled.get());
  }

  /**
   * Writes an HdrHistogram log of the times of each path and name, and returns the summaries.
   *
   * @param found the findings by the label of their path
   * @param folder an existing folder
   */
  static List<PropagateMeasurement> write(
      Map<String, Findings> found,
      PropagatePlan.Point point,
      int processes,
      int runs,
      Path folder) {
    List<PropagateMeasurement> results = new ArrayList<>();
    found.forEach(
        (path, its) -> {
          its.times.forEach(
              (name, samples) -> samples.write(folder.resolve(path + "-" + name + ".hlog")));
          results.add(
              new PropagateMeasurement(
                  point.measurement().label(),
                  path,
                  point.clients(),
                  processes,
                  point.documents(),
                  point.batch(),
                  point.bytes(),
                  runs,
                  its.times(LATENCY).summary(),
                  its.summary(SERVICE),
                  its.summary(TEST),
                  its.summary(SNAPSHOT),
                  its.lost.get(),
                  its.doubled.get(),
                  0,
                  point.folder()));
        });
    return results;
  }

  private @Nullable LatencySummary summary(String name) {
    Samples samples = times.get(name);
    return samples == null ? null : samples.summary();
  }
}
