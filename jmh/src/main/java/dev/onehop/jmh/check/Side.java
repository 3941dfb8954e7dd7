package dev.onehop.jmh.check;

import java.util.Map;

/**
 * A benchmark with one set of parameters. Equal sides run once per round, even if they belong to
 * several bars.
 *
 * @param benchmark class and method, such as {@code core.LookupBenchmark.lookup}
 * @param parameters values of its JMH parameters; the other parameters take their first value
 * @param warmup iterations that do not count
 * @param measurement iterations that count
 */
record Side(
    String benchmark, Map<String, String> parameters, Iterations warmup, Iterations measurement) {
  private static final String PACKAGE = "dev.onehop.jmh.";

  /**
   * Iterations of a benchmark.
   *
   * @param iterations the number of iterations
   * @param milliseconds the length of each; ignored for single shots
   */
  record Iterations(int iterations, int milliseconds) {}

  Side {
    parameters = Map.copyOf(parameters);
  }

  /** The name of a benchmark in bars. */
  static String name(Class<?> type, String method) {
    return type.getName().substring(PACKAGE.length()) + "." + method;
  }

  /** The benchmark's full name in JMH. */
  String fullName() {
    return PACKAGE + benchmark;
  }
}
