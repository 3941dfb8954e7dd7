package dev.onehop.testbed.internal.binaries;

import dev.onehop.testbed.TestbedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program to its end. */
final class CommandLine {
  private static final int COULD_NOT_START = 127;
  private static final int TIMED_OUT = 124;

  private CommandLine() {}

  /** The result of a program; {@code output} is standard output and error together. */
  record Outcome(int exitCode, String output) {
    boolean succeeded() {
      return exitCode == 0;
    }

    /** The last line of the output that is not blank. */
    String lastLine() {
      String[] lines = output.strip().split("\n", -1);
      return lines[lines.length - 1].strip();
    }
  }

  /**
   * Runs a program. A program that cannot be started, or that times out, also has an outcome, with
   * a special exit code.
   */
  static Outcome run(List<String> command, Duration atMost) {
    Path output;
    try {
      output = Files.createTempFile("onehop", ".out");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Process process = null;
    try {
      process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(output.toFile())
              .redirectInput(Path.of("/dev/null").toFile())
              .start();
      if (!process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS)) {
        return new Outcome(
            TIMED_OUT, "the program did not end within " + atMost.toSeconds() + " s");
      }
      return new Outcome(
          process.exitValue(), new String(Files.readAllBytes(output), StandardCharsets.UTF_8));
    } catch (IOException e) {
      return new Outcome(COULD_NOT_START, String.valueOf(e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new TestbedException("interrupted while running " + command.get(0), e);
    } finally {
      if (process != null) {
        process.destroyForcibly();
      }
      try {
        Files.deleteIfExists(output);
      } catch (IOException e) {
        // A temporary file that stays is harmless.
      }
    }
  }
}
