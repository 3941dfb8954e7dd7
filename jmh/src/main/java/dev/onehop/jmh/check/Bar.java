package dev.onehop.jmh.check;

import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The least speed of a benchmark relative to its baseline, and optionally the most bytes that it
 * may allocate. {@code bin/onehop jmh --check} checks it.
 *
 * <p>Bars on speed leave room for a noisy machine with two cores: each is about half of the ratio
 * on a quiet machine. Bars on bytes need no such room. Both sides of every bar run once per round,
 * each in a fresh JVM, so that a disturbance of the machine affects both sides.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@Repeatable(Bar.All.class)
public @interface Bar {
  /** The value of {@link #moreBytes} that sets no limit. */
  int ANY = -1;

  /** The name in the table, unique. */
  String name();

  /**
   * The baseline: a benchmark of the same class. Empty for the same benchmark with other
   * parameters.
   */
  String baseline() default "";

  /**
   * Values of JMH parameters for both sides, each as {@code name=value}. Other parameters take
   * their first value.
   */
  String[] parameters() default {};

  /** Values that differ for the baseline, in the same form. */
  String[] baselineParameters() default {};

  /** The least ratio of speeds, above 0. */
  double atLeast();

  /**
   * The most additional bytes per operation that the benchmark may allocate, compared with its
   * baseline.
   */
  int moreBytes() default ANY;

  /** The number of runs of both sides; the median of the ratios counts. */
  int rounds() default 3;

  /** Iterations that do not count. */
  Warmup warmup() default @Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS);

  /** Iterations that count. */
  Measurement measurement() default
      @Measurement(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS);

  /** Several bars of one benchmark. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.METHOD)
  @interface All {
    /** The bars. */
    Bar[] value();
  }
}
