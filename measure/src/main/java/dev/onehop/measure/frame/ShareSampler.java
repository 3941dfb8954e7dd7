package dev.onehop.measure.frame;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The servers' operation counts over time, which separate the operations of the measured window
 * from the warm-up. Counts between two samples are interpolated. Thread-safe.
 */
final class ShareSampler {

  private record Sample(long nanos, long operations) {}

  private final Map<String, List<Sample>> samples = new TreeMap<>();

  /**
   * Adds a sample of a shard; the samples of a shard must be in the order of time.
   *
   * @param nanos its time, by {@link System#nanoTime}
   * @param operations operations since the shard's start
   */
  synchronized void add(String shard, long nanos, long operations) {
    samples.computeIfAbsent(shard, name -> new ArrayList<>()).add(new Sample(nanos, operations));
  }

  /**
   * The fraction of the window's operations that each shard served.
   *
   * @return empty if there were none, or no samples
   */
  synchronized Map<String, Double> shares(long fromNanos, long toNanos) {
    Map<String, Double> counts = new TreeMap<>();
    samples.forEach(
        (shard, line) -> counts.put(shard, Math.max(0, at(line, toNanos) - at(line, fromNanos))));
    double all = counts.values().stream().mapToDouble(Double::doubleValue).sum();
    if (all == 0) {
      return Map.of();
    }
    counts.replaceAll((shard, count) -> count / all);
    return counts;
  }

  /**
   * The count at a moment. Before the first and after the last sample it is that sample's count.
   */
  private static double at(List<Sample> line, long nanos) {
    Sample before = line.get(0);
    for (Sample sample : line) {
      if (sample.nanos() - nanos >= 0) {
        double gap = sample.nanos() - before.nanos();
        double into = gap == 0 ? 0 : Math.max(0, (nanos - before.nanos()) / gap);
        return before.operations() + into * (sample.operations() - before.operations());
      }
      before = sample;
    }
    return before.operations();
  }
}
