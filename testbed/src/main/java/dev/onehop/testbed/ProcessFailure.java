package dev.onehop.testbed;

import java.util.List;

/**
 * A server that ended without being told to.
 *
 * @param name which one, for example {@code shard-or/or1}
 * @param exitCode what it exited with; 128 + n if signal n ended it
 * @param lastLogLines the end of its log, made readable
 */
public record ProcessFailure(String name, int exitCode, List<String> lastLogLines) {
  public ProcessFailure {
    lastLogLines = List.copyOf(lastLogLines);
  }

  /** One line saying what happened, followed by the log's last lines. */
  public String describe() {
    String first = name + " ended with exit code " + exitCode;
    return lastLogLines.isEmpty()
        ? first
        : first + "; its log ends with:\n  " + String.join("\n  ", lastLogLines);
  }
}
