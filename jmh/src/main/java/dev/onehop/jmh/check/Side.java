package dev.onehop.jmh.check;

import java.util.Map;

/**
 * A benchmark with values of its parameters: one of the two sides of a bar. If several bars have an
 * equal side, this side runs only once per round.
 *
 * @param benchmark class and method, such as {@code core.LookupBenchmark.lookup}
 * @param parameters values of the benchmark's JMH parameters; other parameters have their first
 *     value
 * @param warmup the iterations that do not count
 * @param measurement the iterations that count
 */
record Side(
    String benchmark, Map<String, String> parameters, Iterations warmup, Iterations measurement) {
  private static final String PACKAGE = "dev.onehop.jmh.";

  /**
   * Iterations of a benchmark.
   *
   * @param iterations the number of iterations
   * @param milliseconds the length of an iteration; ignored in JMH's mode SingleShotTime
   */
  record Iterations(int iterations, int milliseconds) {}

  Side {
    parameters = Map.copyOf(parameters);
  }

  /** Returns the name of a benchmark in bars. */
  static String name(Class<?> type, String method) {
    return type.getName().substring(PACKAGE.length()) + "." + method;
  }

  /** The benchmark's full name in JMH. */
  String fullName() {
    return PACKAGE + benchmark;
  }
}
