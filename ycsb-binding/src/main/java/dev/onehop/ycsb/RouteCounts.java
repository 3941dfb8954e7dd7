package dev.onehop.ycsb;

import dev.onehop.routing.observation.RoutingMeters;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.TreeMap;

/** Counts of routing decisions, for the run's summary. */
@FunctionalInterface
interface RouteCounts {

  /** The counts of a client without routing. */
  RouteCounts NONE = Map::of;

  /** Counts from a router's meters. */
  static RouteCounts of(MeterRegistry meters) {
    return () -> {
      Map<String, Long> counts = new TreeMap<>();
      for (Timer timer : meters.find(RoutingMeters.OPERATIONS.meterName()).timers()) {
        counts.merge(timer.getId().getTag("decision"), timer.count(), Long::sum);
      }
      return counts;
    };
  }

  /**
   * Returns the number of operations by decision since the client was opened, warm-up included.
   * Safe to call from any thread.
   */
  Map<String, Long> counts();
}
