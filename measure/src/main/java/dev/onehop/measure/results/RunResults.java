package dev.onehop.measure.results;

import org.jspecify.annotations.Nullable;

/** The content of the {@code results.json} of any command that measures. */
public interface RunResults {

  /** The common part of all such files. */
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

  /** The number of finished points, of the {@link RunFacts#pointsPlanned} planned points. */
  int finished();

  /** The faults that the run has found, as the first words of a sentence; empty without faults. */
  default String fault() {
    return "";
  }

  /** Whether a file has the mandatory parts of its kind. */
  default boolean whole() {
    return topology() != null && server() != null;
  }
}
