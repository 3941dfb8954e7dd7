package dev.onehop.measure.delivery;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.PropagateMeasurement;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The result of a measurement of {@code onehop propagate} by one path: times by name, and faults.
 * Can be read from and written as JSON. Not thread-safe, except for its samples.
 */
final class Findings {

  /** The time of each object, or of each run until it is live. */
  static final String LATENCY = "latency";

  /** The time of each object since its write began. */
  static final String SERVICE = "service";

  /** The time of each test or client. */
  static final String TEST = "test";

  /** The time of each read of a snapshot. */
  static final String SNAPSHOT = "snapshot";

  @JsonProperty private final Map<String, Samples> times = new LinkedHashMap<>();
  @JsonProperty private long lost;
  @JsonProperty private long doubled;

  /** Only for Jackson. */
  private Findings() {}

  /** Creates empty findings with times of these names. */
  static Findings of(String... names) {
    Findings findings = new Findings();
    for (String name : names) {
      findings.times.put(name, new Samples());
    }
    return findings;
  }

  /** The times of one of the names. */
  Samples times(String name) {
    return Objects.requireNonNull(times.get(name));
  }

  /** Adds numbers of lost and of repeated versions. */
  void faults(long more, long again) {
    lost += more;
    doubled += again;
  }

  /** Adds the findings of others. */
  void addAll(Findings others) {
    times.forEach((name, samples) -> samples.addAll(others.times(name)));
    faults(others.lost, others.doubled);
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
        lost,
        doubled,
        0,
        point.folder());
  }

  private @Nullable LatencySummary summary(String name) {
    Samples samples = times.get(name);
    return samples == null ? null : samples.summary();
  }
}
