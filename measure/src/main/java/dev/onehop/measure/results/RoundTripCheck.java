package dev.onehop.measure.results;

import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether the measured round trips equal the configured round trips within 3 % or 0.5 ms. A
 * busy machine makes round trips longer. Results with round trips that are longer by up to 25 % or
 * 5 ms have a mark.
 */
public final class RoundTripCheck {

  private RoundTripCheck() {}

  /** Returns a description of each round trip that differs; empty if all are as configured. */
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

  /**
   * Returns the mark of results with round trips that are not as configured; empty if all are as
   * configured.
   */
  public static String notice(TopologyFacts topology) {
    List<String> off = violations(topology);
    return off.isEmpty()
        ? ""
        : ("Round trips are not as configured (%s), because this machine's processors were busy."
                + " End other programs on this machine, and measure again.")
            .formatted(String.join("; ", off));
  }

  /**
   * Warns of differing round trips with {@link #notice}.
   *
   * @throws Failure if the difference is too large for measurements of this topology
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

  /** The round trip from the client to a host, in milliseconds. */
  private record Distance(double measured, double configured) {
    /**
     * Returns the round trip. Null if it is not measured or not configured, as for an existing
     * cluster.
     */
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
