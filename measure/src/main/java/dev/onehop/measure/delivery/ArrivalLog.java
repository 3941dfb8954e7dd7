package dev.onehop.measure.delivery;

import java.util.Collection;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntPredicate;
import org.bson.RawBsonDocument;

/**
 * The events that one stream has delivered for a run's rows. The log checks, counts and times each
 * row. Thread-safe if one thread at a time adds the events of each channel.
 */
final class ArrivalLog implements EventStream.Sink {

  private final int run;
  private final boolean total;
  private final IntPredicate channels;
  private final Timing timing;
  private final RowChecker checker = new RowChecker();
  private final LongAdder rows = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  private final AtomicLong lastMicros = new AtomicLong();
  private final Map<Integer, LongAdder> groups = new ConcurrentHashMap<>();
  private final Map<Long, Long> signals = new ConcurrentHashMap<>();
  private final Map<Integer, String> tokens = new ConcurrentHashMap<>();
  private final ReadWriteLock taking = new ReentrantReadWriteLock();
  private boolean closed; // accessed only with the lock of "taking"

  /** Records the times of rows at their first arrival. */
  @FunctionalInterface
  interface Timing {
    /**
     * Records the time of a row. Several threads may call this method at the same time.
     *
     * @param seenMicros the arrival time of the row, by {@link SteadyClock}
     */
    void time(Row row, RawBsonDocument event, long seenMicros);
  }

  /**
   * Creates an empty log.
   *
   * @param run the number of the run whose rows count
   * @param total whether all events of a channel must arrive in one order, also events of different
   *     rows
   * @param channels selects the channels that count
   */
  ArrivalLog(int run, boolean total, IntPredicate channels, Timing timing) {
    this.run = run;
    this.total = total;
    this.channels = channels;
    this.timing = timing;
  }

  /** Creates an empty log for the rows of all channels, in the order of each row. */
  ArrivalLog(int run, Timing timing) {
    this(run, false, channel -> true, timing);
  }

  @Override
  public void take(int channel, RawBsonDocument event) {
    long now = SteadyClock.micros();
    Row row = channels.test(channel) ? Row.ofEvent(event) : null;
    if (row == null || row.run() != run) {
      return;
    }
    taking.readLock().lock();
    try {
      if (!closed) {
        take(channel, row, event, now);
      }
    } finally {
      taking.readLock().unlock();
    }
  }

  private void take(int channel, Row row, RawBsonDocument event, long now) {
    if (row.isSignal()) {
      if (signals.putIfAbsent(row.number(), now) != null) {
        checker.again();
      }
      return;
    }
    if (total) {
      String token = Row.token(event);
      String before = tokens.put(channel, token);
      if (before != null && token.compareTo(before) < 0) {
        checker.stepBack();
      }
    }
    rows.increment();
    bytes.add(event.getByteBuffer().remaining());
    lastMicros.accumulateAndGet(now, Math::max);
    if (checker.take(channel, row.number(), row.version())) {
      groups.computeIfAbsent(row.group(), group -> new LongAdder()).increment();
      timing.time(row, event, now);
    }
  }

  RowChecker checker() {
    return checker;
  }

  /** The number of events of the run's rows so far, without signals. */
  long rows() {
    return rows.sum();
  }

  /** The bytes of the events that {@link #rows()} counts. */
  long bytes() {
    return bytes.sum();
  }

  /** The time of the last event, by {@link SteadyClock}; 0 without events. */
  long lastMicros() {
    return lastMicros.get();
  }

  /** The number of versions of a group's rows that have arrived, each counted once. */
  long rows(int group) {
    LongAdder its = groups.get(group);
    return its == null ? 0 : its.sum();
  }

  /** The number of signals that have arrived, each counted once. */
  long signals() {
    return signals.size();
  }

  /** The arrival time of the last of these signals; empty if one of them has not arrived. */
  OptionalLong signalled(Collection<Long> numbers) {
    long last = 0;
    for (Long number : numbers) {
      Long came = signals.get(number);
      if (came == null) {
        return OptionalLong.empty();
      }
      last = Math.max(last, came);
    }
    return OptionalLong.of(last);
  }

  /** Waits for running calls of {@link #take}; later calls have no effect. */
  void close() {
    taking.writeLock().lock();
    try {
      closed = true;
    } finally {
      taking.writeLock().unlock();
    }
  }
}
