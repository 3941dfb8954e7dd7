package dev.onehop.jmh;

import dev.onehop.jmh.check.CheckCommand;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/**
 * The main class of {@code benchmarks.jar}. It runs JMH's own command line. With {@code --check},
 * it checks the bars: the least speeds of benchmarks relative to their baselines.
 */
public final class Benchmarks {
  private static final String CHECK = "--check";

  private Benchmarks() {}

  /**
   * Checks the bars if the arguments contain {@code --check}. Without it, runs JMH with the
   * arguments.
   */
  public static void main(String[] args) throws IOException {
    List<String> arguments = Arrays.asList(args);
    if (!arguments.contains(CHECK)) {
      org.openjdk.jmh.Main.main(args);
      return;
    }
    String[] others = arguments.stream().filter(a -> !a.equals(CHECK)).toArray(String[]::new);
    System.exit(CheckCommand.commandLine().execute(others));
  }
}
