package dev.onehop.testbed.topology;

import dev.onehop.testbed.TestbedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Round trips from the client's host to the other hosts, configured and measured.
 *
 * @param configured the configured round trips by host name, in the topology's order
 * @param measured the measured medians by host name, in the same order
 */
public record RoundTrips(Map<String, Duration> configured, Map<String, Duration> measured) {
  private static final Duration TOLERANCE = Duration.ofNanos(500_000);
  private static final double TOLERANCE_SHARE = 0.03;

  public RoundTrips {
    configured = Collections.unmodifiableMap(new LinkedHashMap<>(configured));
    measured = Collections.unmodifiableMap(new LinkedHashMap<>(measured));
  }

  /**
   * Checks that each measured value equals the configured value. The allowed difference is 3 % or
   * 0.5 ms, the larger of the two.
   *
   * @throws TestbedException if values differ; the message names all hosts that are too near or too
   *     far
   */
  public void requireAsConfigured() {
    List<String> off = new ArrayList<>();
    configured.forEach(
        (host, expected) -> {
          Duration actual = measured.getOrDefault(host, Duration.ZERO);
          long allowed =
              Math.max(TOLERANCE.toNanos(), (long) (expected.toNanos() * TOLERANCE_SHARE));
          if (Math.abs(actual.minus(expected).toNanos()) > allowed) {
            off.add(
                String.format(
                    Locale.ROOT,
                    "%s %.2f ms measured, %.2f ms configured",
                    host,
                    millis(actual),
                    millis(expected)));
          }
        });
    if (!off.isEmpty()) {
      throw new TestbedException(
          "round trips from the client's host are not as configured: " + String.join(", ", off));
    }
  }

  private static double millis(Duration duration) {
    return duration.toNanos() / 1e6;
  }
}
