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
 * may allocate. {@code bin/onehop jmh --check} checks the bar.
 *
 * <p>Bars on speed leave room for a noisy machine with two cores: each bar is about half of the
 * ratio on a quiet machine. Bars on bytes need no such room. In each round, the benchmark and its
 * baseline run soon after each other, each in a new JVM. A disturbance of the machine then slows
 * down both of them, and their ratio changes little.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@Repeatable(Bar.All.class)
public @interface Bar {
  /** The value of {@link #moreBytes} that means no limit. */
  int ANY = -1;

  /** The name of the bar in the table; unique. */
  String name();

  /**
   * The baseline: the name of a benchmark of the same class. Empty if the baseline is the same
   * benchmark with other parameters.
   */
  String baseline() default "";

  /**
   * Values of JMH parameters for the benchmark and the baseline, each as {@code name=value}. Other
   * parameters have their first value.
   */
  String[] parameters() default {};

  /** Values of JMH parameters that differ for the baseline, each as {@code name=value}. */
  String[] baselineParameters() default {};

  /** The least ratio of the benchmark's speed to the baseline's speed, above 0. */
  double atLeast();

  /**
   * The most additional bytes per operation that the benchmark may allocate, compared with its
   * baseline.
   */
  int moreBytes() default ANY;

  /** The number of runs of the benchmark and the baseline. The median of the ratios counts. */
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
