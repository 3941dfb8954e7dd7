package dev.onehop.cli;

import dev.onehop.measure.points.Arrivals;
import picocli.CommandLine.Option;

/** How the intended start times of operations are distributed at a fixed rate. */
final class ArrivalOptions {

  /** The kinds of distribution. */
  enum Spread {
    constant,
    poisson
  }

  @Option(
      names = "--arrivals",
      paramLabel = "constant|poisson",
      description =
          "How the intended times of operations are spread. constant: at equal distances."
              + " poisson: at random. Default: constant.")
  Spread spread = Spread.constant;

  boolean isPoisson() {
    return spread == Spread.poisson;
  }

  /** Checks a rate, in operations per second. */
  static void check(double rate) {
    Refuse.when(
        !(rate > 0) || rate > Arrivals.MOST_PER_SECOND,
        "rate " + rate + ": must be above 0 and at most " + Arrivals.MOST_PER_SECOND);
  }
}
