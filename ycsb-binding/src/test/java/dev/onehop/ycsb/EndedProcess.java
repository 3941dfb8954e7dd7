package dev.onehop.ycsb;

import java.io.IOException;
import java.util.List;

/**
 * A process that has ended.
 *
 * @param exitCode its exit code
 * @param errors the lines it wrote to stderr
 */
record EndedProcess(int exitCode, List<String> errors) {

  /** Runs a process with an empty input to its end. */
  static EndedProcess run(ProcessBuilder command) throws IOException, InterruptedException {
    Process process = command.redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    try {
      process.getOutputStream().close();
      List<String> errors = process.errorReader().lines().toList();
      return new EndedProcess(process.waitFor(), errors);
    } finally {
      process.destroyForcibly();
    }
  }
}
