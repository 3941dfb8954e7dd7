package dev.onehop.measure.delivery;

import java.util.concurrent.atomic.LongAdder;

/**
 * What a consumer has seen of one run's rows: each version once, in rising order for each row, and
 * all versions of a row in one channel. Several channels may add rows at the same time, each in its
 * own order.
 */
final class RowChecker {

  private final RowVersions seen = new RowVersions();

  /** Of each row its channel, from 1; 0 if it was not seen. */
  private final RowBytes channels = new RowBytes();

  private final LongAdder distinct = new LongAdder();
  private final LongAdder doubled = new LongAdder();
  private final LongAdder outOfOrder = new LongAdder();

  /**
   * Takes a row as a channel has released it.
   *
   * @param channel from 0
   */
  void take(int channel, long row, int version) {
    int before = seen.add(row, version);
    if ((before & (1 << version)) != 0) {
      doubled.increment();
      return;
    }
    distinct.increment();
    boolean laterSeen = before > 1 << version;
    int knownChannel = channels.set(row, channel + 1);
    if (laterSeen || (knownChannel != 0 && knownChannel != channel + 1)) {
      outOfOrder.increment();
    }
  }

  /** Counts an event that does not come after the one before it, where all have one order. */
  void stepBack() {
    outOfOrder.increment();
  }

  /** Rows seen so far, each version once. */
  long distinct() {
    return distinct.sum();
  }

  /** Rows that came again. */
  long doubled() {
    return doubled.sum();
  }

  /** Rows that came after a later version of themselves, or in another channel than before. */
  long outOfOrder() {
    return outOfOrder.sum();
  }

  /** What was seen; to be read when the channels are at rest. */
  RowVersions seen() {
    return seen;
  }
}
