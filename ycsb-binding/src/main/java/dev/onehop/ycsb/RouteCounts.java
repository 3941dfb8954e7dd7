package dev.onehop.ycsb;

import java.util.Map;

/** How often each routing decision was taken, for the run's summary. */
@FunctionalInterface
interface RouteCounts {

  /** A client that takes no routing decisions. */
  RouteCounts NONE = Map::of;

  /**
   * Returns the number of operations by decision since the client was opened, warm-up included.
   * Safe to call from any thread.
   */
  Map<String, Long> counts();
}
