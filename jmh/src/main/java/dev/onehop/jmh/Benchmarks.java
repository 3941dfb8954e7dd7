package dev.onehop.jmh;

import dev.onehop.jmh.check.CheckCommand;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/** {@code benchmarks.jar}: JMH's own command line, and the option {@code --check}. */
public final class Benchmarks {
  private static final String CHECK = "--check";

  private Benchmarks() {}

  /**
   * Checks the bars if {@code --check} is among the arguments; otherwise runs JMH with the
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
