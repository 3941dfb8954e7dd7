package dev.onehop.measure.bench;

import dev.onehop.measure.results.LatencySummary;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.resync.Failure;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToDoubleFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What has to be true of a rate that holds, such as {@code p99<20ms}: a figure of the latency from
 * the intended time lies below a bound. Besides, every operation was issued and answered.
 *
 * @param figure one of p50, p90, p95, p99, p999, mean
 * @param micros the bound
 * @param text as it was written
 */
public record Criterion(String figure, double micros, String text) {

  private static final Pattern TEXT =
      Pattern.compile("\\s*(\\w+)\\s*<\\s*(\\d{1,9}(?:\\.\\d{1,9})?)\\s*(us|ms|s)\\s*");

  private static final Map<String, ToDoubleFunction<LatencySummary>> FIGURES =
      Map.of(
          "p50", LatencySummary::p50,
          "p90", LatencySummary::p90,
          "p95", LatencySummary::p95,
          "p99", LatencySummary::p99,
          "p999", LatencySummary::p999,
          "mean", LatencySummary::mean);

  private static final Map<String, Double> UNITS = Map.of("us", 1.0, "ms", 1e3, "s", 1e6);

  /**
   * Reads one.
   *
   * @throws Failure if it is none
   */
  public static Criterion parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (matcher.matches() && FIGURES.containsKey(matcher.group(1))) {
      double unit = Objects.requireNonNull(UNITS.get(matcher.group(3)));
      double micros = Double.parseDouble(matcher.group(2)) * unit;
      if (micros > 0) {
        return new Criterion(matcher.group(1), micros, text.strip());
      }
    }
    throw Failure.usage(
        "--find-max '"
            + text
            + "': write p50, p90, p95, p99, p999 or mean, <, and a time, such as 'p99<20ms'");
  }

  /** Whether a rate held. */
  boolean holds(ScenarioEntry entry) {
    return entry.errors() == 0
        && entry.completed() > 0
        && Objects.requireNonNull(FIGURES.get(figure)).applyAsDouble(entry.latency()) < micros;
  }

  /** How long answers are waited for at the end: what takes longer does not hold. */
  Duration drain() {
    return Duration.ofMillis((long) Math.ceil(micros / 1e3)).multipliedBy(2).plusSeconds(1);
  }
}
