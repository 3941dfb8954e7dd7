package dev.onehop.jmh.check;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Measurement;

/** A benchmark with bars. Tests read its bars and never run it. */
public class BarredBenchmark {
  /** A benchmark. */
  @Bar(
      name = "fast",
      baseline = "b",
      parameters = {"size=10", "kind=x"},
      baselineParameters = "kind=y",
      atLeast = 1.5)
  @Bar(
      name = "once",
      atLeast = 2,
      moreBytes = 512,
      rounds = 1,
      measurement = @Measurement(iterations = 1, time = 1, timeUnit = TimeUnit.MILLISECONDS))
  @Benchmark
  public void a() {}

  /** Its baseline. */
  @Benchmark
  public void b() {}
}
