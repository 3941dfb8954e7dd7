package dev.onehop.measure.frame;

import dev.onehop.measure.frame.Sampler.Sample;
import dev.onehop.measure.results.Evidence;
import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.evidence.LocalHits;
import dev.onehop.testbed.evidence.RouterSampling;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The servers' figures for one point: the shards' counters, read repeatedly, and a sample of the
 * operations with their routers.
 */
public final class ServerWatch implements AutoCloseable {

  private static final Duration INTERVAL = Duration.ofMillis(500);

  private final Sampler<Map<String, Long>> samples;
  private final @Nullable RouterSampling routers;
  private final boolean samplesAll;
  private volatile @Nullable RuntimeException failure; // of the latest read

  /**
   * Starts to collect. The first and the last read must succeed. Other reads may fail, because a
   * shard may be down for a while.
   *
   * @param counters reads the number of executed operations by shard. The map is empty if the user
   *     lacks the right to read these numbers
   * @param routers the running sample of operations; null without a sample
   * @param samplesAll whether the sample includes all operations
   */
  ServerWatch(
      Supplier<Map<String, Long>> counters, @Nullable RouterSampling routers, boolean samplesAll) {
    this.routers = routers;
    this.samplesAll = samplesAll;
    this.samples = Sampler.start(INTERVAL, () -> read(counters));
    RuntimeException first = failure;
    if (first != null) {
      close();
      throw first;
    }
  }

  private Map<String, Long> read(Supplier<Map<String, Long>> counters) {
    try {
      Map<String, Long> counts = counters.get();
      failure = null;
      return counts;
    } catch (RuntimeException e) {
      failure = e;
      return Map.of();
    }
  }

  /**
   * Ends the collection and returns the figures between two moments.
   *
   * @param fromNanos the start of the window, by {@link System#nanoTime}
   * @param toNanos the end of the window, by {@link System#nanoTime}
   */
  public Evidence evidence(long fromNanos, long toNanos) {
    List<Sample<Map<String, Long>>> counts = samples.stop();
    RuntimeException last = failure;
    if (last != null) {
      throw last;
    }
    Map<String, Double> shares = shares(counts, fromNanos, toNanos);
    if (routers == null) {
      return new Evidence(shares, null, null);
    }
    LocalHits beside = routers.besideOwner(time(fromNanos), time(toNanos));
    return new Evidence(
        // A sample of all operations is exact, so it replaces the counters. The counters are
        // interpolated: with few operations per second, they would mostly count operations of the
        // warm-up.
        samplesAll ? beside.sample().shares() : shares,
        beside.fraction().isPresent() ? beside.fraction().getAsDouble() : null,
        beside.sampled() == 0 ? null : beside.sampled());
  }

  /**
   * Returns the fraction of a window's operations that each shard executed.
   *
   * @param counts the numbers of operations since the shards' start. They are interpolated between
   *     two samples, so that operations before and after the window do not count. The operations of
   *     a shard count from the first sample that contains the shard
   * @return the fractions by shard; empty if there were no operations
   */
  static Map<String, Double> shares(
      List<Sample<Map<String, Long>>> counts, long fromNanos, long toNanos) {
    Map<String, Double> shares = new TreeMap<>();
    counts.stream()
        .flatMap(sample -> sample.value().keySet().stream())
        .distinct()
        .forEach(
            shard -> {
              double served = at(counts, shard, toNanos) - at(counts, shard, fromNanos);
              shares.put(shard, Math.max(0, served));
            });
    double all = shares.values().stream().mapToDouble(Double::doubleValue).sum();
    shares.replaceAll((shard, served) -> served / all);
    return all == 0 ? Map.of() : shares;
  }

  private static double at(List<Sample<Map<String, Long>>> counts, String shard, long nanos) {
    return Sampler.at(
        counts.stream().filter(sample -> sample.value().containsKey(shard)).toList(),
        Sample::nanos,
        (double) nanos,
        sample -> sample.value().get(shard));
  }

  /** Returns the wall clock's time at a moment of {@link System#nanoTime}. */
  private static Instant time(long nanos) {
    return Instant.now().minusNanos(System.nanoTime() - nanos);
  }

  /** Ends the collection. Has no effect if it has ended. */
  @Override
  public void close() {
    samples.close();
    try {
      if (routers != null) {
        routers.close();
      }
    } catch (TestbedException e) {
      // The failure is ignored: the servers have ended, so the sampling has ended, too.
    }
  }
}
