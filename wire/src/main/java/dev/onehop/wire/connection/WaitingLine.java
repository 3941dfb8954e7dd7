package dev.onehop.wire.connection;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Requests of one sort that wait for a shared connection, and how long the server takes for them.
 * Confined to one event loop.
 */
final class WaitingLine {
  /** Below that, no answer is slow: a server that collects garbage or flushes takes as long. */
  static final Duration SLOW_HEAD = Duration.ofMillis(50);

  /** How much slower than usual an answer has to be before it counts as slow. */
  private static final int SLOW_FACTOR = 4;

  /** Weight of one answer in the usual time: 1/8, as TCP's round trip estimate has it. */
  private static final int SMOOTHING = 8;

  private final Queue<Exchange> requests = new ArrayDeque<>();
  private long usualNanos;

  void add(Exchange request) {
    requests.add(request);
  }

  /** The first in line, null if there is none. */
  @Nullable Exchange first() {
    return requests.peek();
  }

  void removeFirst() {
    requests.remove();
  }

  void remove(Exchange request) {
    requests.remove(request);
  }

  boolean isEmpty() {
    return requests.isEmpty();
  }

  int size() {
    return requests.size();
  }

  /** Takes those out of line that meet a condition. */
  List<Exchange> removeIf(Predicate<Exchange> condition) {
    List<Exchange> removed = new ArrayList<>();
    requests.removeIf(request -> condition.test(request) && removed.add(request));
    return removed;
  }

  /** Learns how long an answer usually takes. */
  void answered(long nanos) {
    usualNanos = usualNanos == 0 ? nanos : usualNanos + (nanos - usualNanos) / SMOOTHING;
  }

  /** How long an answer may take before its connection is passed over. */
  long slowThresholdNanos() {
    return Math.max(SLOW_HEAD.toNanos(), SLOW_FACTOR * usualNanos);
  }
}
