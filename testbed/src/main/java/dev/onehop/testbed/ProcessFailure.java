package dev.onehop.testbed;

import java.util.List;

/**
 * A server that ended unexpectedly.
 *
 * @param name the server's name, for example {@code shard-or/or1}
 * @param exitCode the exit code of the server; 128 + n if signal n ended the server
 * @param lastLogLines the last lines of the server's log, in readable form
 */
public record ProcessFailure(String name, int exitCode, List<String> lastLogLines) {
  public ProcessFailure {
    lastLogLines = List.copyOf(lastLogLines);
  }

  /** One line about the failure, followed by the last lines of the log. */
  public String describe() {
    String first = name + " ended with exit code " + exitCode;
    return lastLogLines.isEmpty()
        ? first
        : first + "; its log ends with:\n  " + String.join("\n  ", lastLogLines);
  }
}
