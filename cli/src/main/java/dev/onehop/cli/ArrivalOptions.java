package dev.onehop.cli;

import dev.onehop.measure.points.Arrivals;
import dev.onehop.resync.Failure;
import picocli.CommandLine.Option;

/** How the times of operations at a fixed rate are spread. */
final class ArrivalOptions {

  /** How. */
  enum Spread {
    constant,
    poisson
  }

  @Option(
      names = "--arrivals",
      paramLabel = "constant|poisson",
      description = "How the intended times are spread. Default: constant.")
  Spread spread = Spread.constant;

  boolean isPoisson() {
    return spread == Spread.poisson;
  }

  /** Checks a rate, in operations per second. */
  static void check(double rate) {
    if (!(rate > 0) || rate > Arrivals.MOST_PER_SECOND) {
      throw Failure.usage(
          "rate " + rate + ": must be above 0 and at most " + Arrivals.MOST_PER_SECOND);
    }
  }
}
