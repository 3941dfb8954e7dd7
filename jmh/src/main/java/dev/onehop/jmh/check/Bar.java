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
 * How fast, and perhaps how frugal, a benchmark must be beside its baseline: what {@code bin/onehop
 * jmh --check} holds.
 *
 * <p>Bars on speed leave room for a noisy machine of two cores: each is about half of what a quiet
 * one shows. Bars on bytes need none. Every side of every bar runs once per round, each time in a
 * JVM of its own, so that what disturbs the machine disturbs both sides.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@Repeatable(Bar.All.class)
public @interface Bar {
  /** The value of {@link #moreBytes} that sets no limit. */
  int ANY = -1;

  /** The name in the table, unique. */
  String name();

  /** The baseline: a benchmark of the same class. Empty: the same one with other parameters. */
  String baseline() default "";

  /** Values of JMH parameters of both sides, each as {@code name=value}. Others: their first. */
  String[] parameters() default {};

  /** Values that differ for the baseline, likewise. */
  String[] baselineParameters() default {};

  /** The least ratio of speeds, above 0. */
  double atLeast();

  /** The most bytes that the benchmark may allocate per operation above what its baseline does. */
  int moreBytes() default ANY;

  /** How often both sides are run; the median of the ratios counts. */
  int rounds() default 3;

  /** Iterations that don't count. */
  Warmup warmup() default @Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS);

  /** Iterations that do. */
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
