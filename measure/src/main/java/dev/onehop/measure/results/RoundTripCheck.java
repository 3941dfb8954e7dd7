package dev.onehop.measure.results;

import dev.onehop.measure.results.TopologyFacts.HostFacts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Compares the measured round trips with the configured ones: within 3 % or 0.5 ms. */
public final class RoundTripCheck {

  private static final double RELATIVE = 0.03;
  private static final double ABSOLUTE_MILLIS = 0.5;

  private RoundTripCheck() {}

  /** The differing pairs, in words; empty if all are as configured. */
  public static List<String> violations(TopologyFacts topology) {
    List<String> violations = new ArrayList<>();
    for (HostFacts host : topology.hosts()) {
      Double measured = topology.measuredFromClient(host.name());
      Double known = topology.configured(topology.client(), host.name());
      boolean ofClient = host.name().equals(topology.client());
      if (measured == null || (known == null && !ofClient)) {
        continue; // an existing cluster has no configured round trips
      }
      double configured = known == null ? 0 : known;
      if (Math.abs(measured - configured) > Math.max(ABSOLUTE_MILLIS, configured * RELATIVE)) {
        violations.add(
            String.format(
                Locale.ROOT,
                "%s to %s: %.2f ms measured, %.2f ms configured",
                topology.client(),
                host.name(),
                measured,
                configured));
      }
    }
    return violations;
  }
}
