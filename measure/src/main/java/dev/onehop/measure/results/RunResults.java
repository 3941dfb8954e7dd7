package dev.onehop.measure.results;

import org.jspecify.annotations.Nullable;

/** What a command that measures writes to {@code results.json}. */
public interface RunResults {

  /** How the run was made; null in a file that says nothing of it. */
  @Nullable RunFacts run();

  /** Where was measured. */
  TopologyFacts topology();

  /** Which servers ran. */
  ServerFacts server();

  /** Which machine and software it ran on; null in a file that says nothing of it. */
  @Nullable MachineFacts machine();

  /** How many of {@link RunFacts#pointsPlanned} were finished. */
  int finished();

  /** Whether a file that was read has what every one of its kind has. */
  default boolean whole() {
    return topology() != null && server() != null;
  }
}
