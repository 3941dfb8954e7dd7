package dev.onehop.measure.results;

import org.jspecify.annotations.Nullable;

/** What a command that measures writes to {@code results.json}. */
public interface RunResults {

  /** What it says besides its figures. */
  Envelope envelope();

  /** How the run was made; null in a file that says nothing of it. */
  default @Nullable RunFacts run() {
    return envelope().run();
  }

  /** Where was measured. */
  default TopologyFacts topology() {
    return envelope().topology();
  }

  /** Which servers ran. */
  default ServerFacts server() {
    return envelope().server();
  }

  /** Which machine and software it ran on; null in a file that says nothing of it. */
  default @Nullable MachineFacts machine() {
    return envelope().machine();
  }

  /** How many of {@link RunFacts#pointsPlanned} were finished. */
  int finished();

  /** Whether a file that was read has what every one of its kind has. */
  default boolean whole() {
    return topology() != null && server() != null;
  }
}
