package dev.onehop.cli.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Server-side operation counts over time, so that the operations of exactly the measured window can
 * be told from the warm-up's before it. Counts between two samples are interpolated.
 */
final class ShareSampler {

  private record Sample(long nanos, Map<String, Long> operations) {}

  private final List<Sample> samples = new ArrayList<>();

  /**
   * Adds a sample; they must come in the order of time.
   *
   * @param nanos when, by {@link System#nanoTime}
   * @param operations operations per shard since the shard's start
   */
  synchronized void add(long nanos, Map<String, Long> operations) {
    samples.add(new Sample(nanos, Map.copyOf(operations)));
  }

  /**
   * The fraction of the window's operations that each shard served.
   *
   * @return empty if there were none, or no samples
   */
  synchronized Map<String, Double> shares(long fromNanos, long toNanos) {
    Map<String, Double> counts = new TreeMap<>();
    if (!samples.isEmpty()) {
      for (String shard : samples.get(0).operations().keySet()) {
        counts.put(shard, Math.max(0, at(shard, toNanos) - at(shard, fromNanos)));
      }
    }
    double all = counts.values().stream().mapToDouble(Double::doubleValue).sum();
    if (all == 0) {
      return Map.of();
    }
    counts.replaceAll((shard, count) -> count / all);
    return counts;
  }

  /** A shard's count at a moment: before the first and after the last sample, that one's. */
  private double at(String shard, long nanos) {
    Sample before = samples.get(0);
    for (Sample sample : samples) {
      if (sample.nanos() - nanos >= 0) {
        double gap = sample.nanos() - before.nanos();
        double into = gap == 0 ? 0 : Math.max(0, (nanos - before.nanos()) / gap);
        long from = count(before, shard);
        return from + into * (count(sample, shard) - from);
      }
      before = sample;
    }
    return count(before, shard);
  }

  private static long count(Sample sample, String shard) {
    return sample.operations().getOrDefault(shard, 0L);
  }
}
