package dev.onehop.measure.results;

import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Whether the measured round trips are those that were configured: within 3 % or 0.5 ms. Longer
 * ones, by up to 25 % or 5 ms, are those of a busy machine; results are marked.
 */
public final class RoundTripCheck {

  private RoundTripCheck() {}

  /** The differing pairs, in words; empty if all are as configured. */
  public static List<String> violations(TopologyFacts topology) {
    List<String> violations = new ArrayList<>();
    for (HostFacts host : topology.hosts()) {
      Distance its = Distance.of(topology, host.name());
      if (its != null && Math.abs(its.longer()) > its.tolerance(0.03, 0.5)) {
        violations.add(
            String.format(
                Locale.ROOT,
                "%s to %s: %.2f ms measured, %.2f ms configured",
                topology.client(),
                host.name(),
                its.measured,
                its.configured));
      }
    }
    return violations;
  }

  /** What marks results of round trips that are not as configured; empty if all are. */
  public static String notice(TopologyFacts topology) {
    List<String> off = violations(topology);
    return off.isEmpty()
        ? ""
        : "Round trips are not as configured (%s): this machine's processors were busy. End what else runs on it, and measure again."
            .formatted(String.join("; ", off));
  }

  /**
   * Warns of round trips that are off, as {@link #notice}.
   *
   * @throws Failure if they are so far off that what is measured would not be of this topology
   */
  public static void require(TopologyFacts topology, Consumer<String> warning) {
    String notice = notice(topology);
    for (HostFacts host : topology.hosts()) {
      Distance its = Distance.of(topology, host.name());
      if (its != null && its.longer() > its.tolerance(0.25, 5)) {
        throw Failure.run(notice, null);
      }
      if (its != null && -its.longer() > its.tolerance(0.03, 0.5)) {
        throw Failure.run(
            "Round trips are shorter than configured: " + String.join("; ", violations(topology)),
            null);
      }
    }
    if (!notice.isEmpty()) {
      warning.accept(notice);
    }
  }

  /** Of the client to a host, in milliseconds. */
  private record Distance(double measured, double configured) {
    /** Null where nothing is measured, or configured, as for a cluster that is just there. */
    static @Nullable Distance of(TopologyFacts topology, String host) {
      Double measured = topology.measuredFromClient(host);
      Double configured =
          host.equals(topology.client())
              ? Double.valueOf(0)
              : topology.configured(topology.client(), host);
      return measured == null || configured == null ? null : new Distance(measured, configured);
    }

    double longer() {
      return measured - configured;
    }

    double tolerance(double relative, double absoluteMillis) {
      return Math.max(absoluteMillis, configured * relative);
    }
  }
}
