package dev.onehop.measure.results;

import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Compares the measured round trips with the configured round trips. Each rule has two limits, of
 * which the larger one counts:
 *
 * <ul>
 *   <li>A difference of up to 3 % or 0.5 ms is ignored.
 *   <li>If a round trip is longer by up to 25 % or 5 ms, the results get a mark. A busy machine
 *       makes round trips longer.
 *   <li>If a round trip is even longer, or if it is shorter, this is an error.
 * </ul>
 */
public final class RoundTripCheck {

  private RoundTripCheck() {}

  /** Returns a description of each round trip that is not as configured; empty if there is none. */
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
   * Returns the mark for results if some round trips are not as configured; otherwise an empty
   * text.
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
   * Warns with {@link #notice} if some round trips are not as configured.
   *
   * @throws Failure if a round trip differs so much that measurements would not apply to this
   *     topology
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
