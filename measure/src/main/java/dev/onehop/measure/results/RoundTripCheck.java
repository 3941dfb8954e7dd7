package dev.onehop.measure.results;

import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

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
    return distances(topology).stream()
        .filter(its -> Math.abs(its.longer()) > its.tolerance(0.03, 0.5))
        .map(
            its ->
                String.format(
                    Locale.ROOT,
                    "%s to %s: %.2f ms measured, %.2f ms configured",
                    topology.client(),
                    its.host,
                    its.measured,
                    its.configured))
        .toList();
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
    for (Distance its : distances(topology)) {
      if (its.longer() > its.tolerance(0.25, 5)) {
        throw Failure.run(notice, null);
      }
      if (-its.longer() > its.tolerance(0.03, 0.5)) {
        throw Failure.run(
            "Round trips are shorter than configured: " + String.join("; ", violations(topology)),
            null);
      }
    }
    if (!notice.isEmpty()) {
      warning.accept(notice);
    }
  }

  /**
   * Returns the round trips that are measured and configured. For an existing cluster, there are
   * none.
   */
  private static List<Distance> distances(TopologyFacts topology) {
    List<Distance> distances = new ArrayList<>();
    for (HostFacts host : topology.hosts()) {
      Double measured = topology.measuredFromClient(host.name());
      Double configured =
          host.name().equals(topology.client())
              ? Double.valueOf(0)
              : topology.configured(topology.client(), host.name());
      if (measured != null && configured != null) {
        distances.add(new Distance(host.name(), measured, configured));
      }
    }
    return distances;
  }

  /** The round trip from the client to a host, in milliseconds. */
  private record Distance(String host, double measured, double configured) {
    double longer() {
      return measured - configured;
    }

    double tolerance(double relative, double absoluteMillis) {
      return Math.max(absoluteMillis, configured * relative);
    }
  }
}
