package dev.onehop.measure.results;

import org.jspecify.annotations.Nullable;

/** What a command that measures writes to {@code results.json}. */
public interface RunResults {

  /** Where was measured; null in a file that says nothing of it. */
  @Nullable Object topology();

  /** What was measured; null in a file that says nothing of it. */
  @Nullable Object server();

  /** Whether a file that was read has what every one of its kind has. */
  default boolean whole() {
    return topology() != null && server() != null;
  }
}
