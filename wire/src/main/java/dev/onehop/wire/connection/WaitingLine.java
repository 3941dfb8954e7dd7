package dev.onehop.wire.connection;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Requests of one kind that wait for a shared connection, and the usual duration of such requests.
 * Confined to one event loop.
 */
final class WaitingLine {
  /**
   * A reply within this time never counts as slow, because garbage collection or a flush in the
   * server may take as long.
   */
  static final Duration SLOW_HEAD = Duration.ofMillis(50);

  /** A reply is slow if it takes this many times the usual duration. */
  private static final int SLOW_FACTOR = 4;

  /** The weight of one reply in the usual duration is 1/8, as in TCP's round trip estimate. */
  private static final int SMOOTHING = 8;

  private final Queue<Exchange> requests = new ArrayDeque<>();
  private long usualNanos;

  void add(Exchange request) {
    requests.add(request);
  }

  /** The first waiting request, null if there is none. */
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

  /** Removes the requests that meet a condition. */
  List<Exchange> removeIf(Predicate<Exchange> condition) {
    List<Exchange> removed = new ArrayList<>();
    requests.removeIf(request -> condition.test(request) && removed.add(request));
    return removed;
  }

  /** Adds a reply's duration to the usual duration. */
  void answered(long nanos) {
    usualNanos = usualNanos == 0 ? nanos : usualNanos + (nanos - usualNanos) / SMOOTHING;
  }

  /** The time without a reply after which a connection counts as slow. */
  long slowThresholdNanos() {
    return Math.max(SLOW_HEAD.toNanos(), SLOW_FACTOR * usualNanos);
  }
}
