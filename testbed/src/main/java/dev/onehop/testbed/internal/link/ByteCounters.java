package dev.onehop.testbed.internal.link;

import dev.onehop.testbed.evidence.Traffic;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.UnaryOperator;

/** Counts the bytes that pass through links, by sender and receiver. Thread-safe. */
final class ByteCounters {
  private record Way(ConnectionEnd from, ConnectionEnd to) {}

  private final Map<Way, LongAdder> counters = new ConcurrentHashMap<>();

  /** The counter of one direction. */
  LongAdder of(ConnectionEnd from, ConnectionEnd to) {
    return counters.computeIfAbsent(new Way(from, to), way -> new LongAdder());
  }

  /**
   * The bytes counted so far.
   *
   * @param regionOf returns the region of a host's name
   */
  Traffic snapshot(UnaryOperator<String> regionOf) {
    Map<Traffic.Flow, Long> bytes = new HashMap<>();
    counters.forEach(
        (way, counter) -> {
          long sum = counter.sum();
          if (sum > 0) {
            bytes.merge(
                new Traffic.Flow(
                    regionOf.apply(way.from().host()),
                    way.from().party(),
                    regionOf.apply(way.to().host()),
                    way.to().party()),
                sum,
                Long::sum);
          }
        });
    return new Traffic(bytes);
  }
}
