package dev.onehop.measure.points;

import dev.onehop.measure.results.CpuPerOperation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Processor times over time. What was used per operation is the slope between the first and the
 * last sample within the measured window: how long a process needs to start and to end does not
 * count, nor that it can't be asked any more once it has ended. Thread-safe.
 */
final class CpuSampler {

  /**
   * Processor times since the start of whatever used them; null if not known.
   *
   * @param nanos when, by {@link System#nanoTime}
   */
  record Sample(
      long nanos,
      @Nullable Duration client,
      @Nullable Duration routers,
      @Nullable Duration mongods,
      @Nullable Duration links) {}

  private final List<Sample> samples = new ArrayList<>();

  /** Adds a sample, later than those before. */
  synchronized void add(Sample sample) {
    samples.add(sample);
  }

  /**
   * What was used per operation in a window.
   *
   * @param perSecond operations per second in it
   * @return null if there are no two samples in the window or no operations
   */
  synchronized @Nullable CpuPerOperation perOperation(
      long fromNanos, long toNanos, double perSecond) {
    List<Sample> within =
        samples.stream()
            .filter(s -> s.nanos() - fromNanos >= 0 && s.nanos() - toNanos <= 0)
            .toList();
    if (within.size() < 2 || perSecond <= 0) {
      return null;
    }
    return new CpuPerOperation(
        perOperation(within, Sample::client, perSecond),
        perOperation(within, Sample::routers, perSecond),
        perOperation(within, Sample::mongods, perSecond),
        perOperation(within, Sample::links, perSecond));
  }

  private static @Nullable Double perOperation(
      List<Sample> samples, Function<Sample, @Nullable Duration> of, double perSecond) {
    // One alone may miss a value: the client's process ends while the window does.
    List<Sample> known = samples.stream().filter(sample -> of.apply(sample) != null).toList();
    if (known.size() < 2) {
      return null;
    }
    Sample first = known.get(0);
    Sample last = known.get(known.size() - 1);
    Duration before = of.apply(first);
    Duration after = of.apply(last);
    if (before == null || after == null) {
      return null;
    }
    double usedMicros = after.minus(before).toNanos() / 1e3;
    double operations = perSecond * (last.nanos() - first.nanos()) / 1e9;
    return Math.round(usedMicros / operations * 10) / 10.0;
  }
}
