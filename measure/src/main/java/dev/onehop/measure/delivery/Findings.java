package dev.onehop.measure.delivery;

import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.PropagateMeasurement;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
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

  /** Creates empty findings with times of these names, for each path. */
  static Map<StreamPath, Findings> ofPaths(String... names) {
    Map<StreamPath, Findings> findings = new EnumMap<>(StreamPath.class);
    StreamPath.TIMED.forEach(path -> findings.put(path, of(names)));
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

  /** Writes the findings of each path, and returns their summaries. */
  static List<PropagateMeasurement> write(
      Map<StreamPath, Findings> found,
      PropagatePlan.Point point,
      int processes,
      int runs,
      Path folder) {
    List<PropagateMeasurement> results = new ArrayList<>();
    found.forEach(
        (path, its) -> results.add(its.write(point, path.label(), processes, runs, folder)));
    return results;
  }

  /**
   * Writes an HdrHistogram log of the times of each name, and returns the summary.
   *
   * @param path the label of the path
   * @param folder an existing folder
   */
  PropagateMeasurement write(
      PropagatePlan.Point point, String path, int processes, int runs, Path folder) {
    times.forEach((name, samples) -> samples.write(folder.resolve(path + "-" + name + ".hlog")));
    return new PropagateMeasurement(
        point.measurement().label(),
        path,
        point.clients(),
        processes,
        point.documents(),
        point.batch(),
        point.bytes(),
        runs,
        times(LATENCY).summary(),
        summary(SERVICE),
        summary(TEST),
        summary(SNAPSHOT),
        lost.get(),
        doubled.get(),
        0,
        point.folder());
  }

  private @Nullable LatencySummary summary(String name) {
    Samples samples = times.get(name);
    return samples == null ? null : samples.summary();
  }
}
