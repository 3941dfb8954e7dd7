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
 * What a measurement of {@code onehop propagate} finds by one path: times by their names, and
 * faults. Can be read from and written as JSON. Not thread-safe but for its samples.
 */
final class Findings {

  /** Of each object, or of each run until it is live. */
  static final String LATENCY = "latency";

  /** Of each object, from when its write began. */
  static final String SERVICE = "service";

  /** Of each test or client. */
  static final String TEST = "test";

  /** Of each snapshot that is read. */
  static final String SNAPSHOT = "snapshot";

  @JsonProperty private final Map<String, Samples> times = new LinkedHashMap<>();
  @JsonProperty private long lost;
  @JsonProperty private long doubled;

  /** For Jackson alone. */
  private Findings() {}

  /** Findings without any yet, of the times with these names. */
  static Findings of(String... names) {
    Findings findings = new Findings();
    for (String name : names) {
      findings.times.put(name, new Samples());
    }
    return findings;
  }

  /** The times of a name that it was made with. */
  Samples times(String name) {
    return Objects.requireNonNull(times.get(name));
  }

  /** Adds versions that were lost, and those that came again. */
  void faults(long more, long again) {
    lost += more;
    doubled += again;
  }

  /** Adds what others have found. */
  void addAll(Findings others) {
    times.forEach((name, samples) -> samples.addAll(others.times(name)));
    faults(others.lost, others.doubled);
  }

  /**
   * Writes an HdrHistogram log of the times of each name, and sums all up.
   *
   * @param path the label of what was measured
   * @param folder that exists
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
