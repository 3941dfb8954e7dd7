package dev.onehop.jmh.check;

import java.util.Map;

/**
 * A benchmark under one set of parameters. Equal ones are run once per round, however many bars
 * they belong to.
 *
 * @param benchmark class and method, such as {@code core.LookupBenchmark.lookup}
 * @param parameters values of its JMH parameters; the others take their first one
 * @param warmup iterations that don't count
 * @param measurement iterations that do
 */
record Side(
    String benchmark, Map<String, String> parameters, Iterations warmup, Iterations measurement) {
  private static final String PACKAGE = "dev.onehop.jmh.";

  /**
   * Iterations of a benchmark.
   *
   * @param iterations how many
   * @param milliseconds how long each takes; without meaning for single shots
   */
  record Iterations(int iterations, int milliseconds) {}

  Side {
    parameters = Map.copyOf(parameters);
  }

  /** A benchmark as bars call it. */
  static String name(Class<?> type, String method) {
    return type.getName().substring(PACKAGE.length()) + "." + method;
  }

  /** The benchmark as JMH knows it. */
  String fullName() {
    return PACKAGE + benchmark;
  }
}
