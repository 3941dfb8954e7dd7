package dev.onehop.measure.results;

import org.jspecify.annotations.Nullable;

/** The content of {@code results.json} of any measuring command. */
public interface RunResults {

  /** The common part. */
  Envelope envelope();

  /** The facts of the run; null in a file without them. */
  default @Nullable RunFacts run() {
    return envelope().run();
  }

  /** The topology of the run. */
  default TopologyFacts topology() {
    return envelope().topology();
  }

  /** The servers of the run. */
  default ServerFacts server() {
    return envelope().server();
  }

  /** The machine and software of the run; null in a file without them. */
  default @Nullable MachineFacts machine() {
    return envelope().machine();
  }

  /** The number of {@link RunFacts#pointsPlanned} that were finished. */
  int finished();

  /** The fault that the run has found, as the begin of a sentence; empty without a fault. */
  default String fault() {
    return "";
  }

  /** Whether a file has the mandatory parts of its kind. */
  default boolean whole() {
    return topology() != null && server() != null;
  }
}
