package dev.onehop.core.reference;

import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Runs a check many times, each time with another random generator. All generators come from one
 * seed. A failure names the seed, and {@code -Dseed=N} repeats the same cases.
 */
public final class RandomCases {
  /** The seeds of the first cases: small numbers, and the limits of {@code int}. */
  private static final List<Long> EDGES =
      List.of(0L, 1L, -1L, 2L, -2L, (long) Integer.MIN_VALUE, (long) Integer.MAX_VALUE);

  private RandomCases() {}

  public static void check(int cases, Consumer<Random> check) {
    String seed = System.getProperty("seed");
    check(cases, seed == null ? new Random().nextLong() : Long.parseLong(seed), check);
  }

  static void check(int cases, long seed, Consumer<Random> check) {
    RandomGenerator seeds = new SplittableRandom(seed);
    for (int i = 0; i < cases; i++) {
      long ofCase = i < EDGES.size() ? EDGES.get(i) : seeds.nextLong();
      try {
        check.accept(new Random(ofCase));
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError(
            "case %d of %d, new Random(%dL), repeat with -Dseed=%d: %s"
                .formatted(i + 1, cases, ofCase, seed, e.getMessage()),
            e);
      }
    }
  }
}
