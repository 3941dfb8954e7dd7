package dev.onehop.measure.delivery;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * Checks the versions of rows from a stream. A version must arrive once, after the row's earlier
 * versions, and in the same channel as these. Several channels may add rows at the same time, each
 * in its own order.
 */
final class RowChecker {

  private final RowSet seen = new RowSet();

  /** The channel of each row, from 1; 0 if the row has not arrived. */
  private final RowSet channels = new RowSet();

  private final LongAdder read = new LongAdder();
  private final LongAdder distinct = new LongAdder();
  private final LongAdder doubled = new LongAdder();
  private final LongAdder outOfOrder = new LongAdder();

  /**
   * The result of the check. Immutable.
   *
   * @param rows versions of rows that were acknowledged to the writer
   * @param lost acknowledged versions that did not arrive
   * @param doubled versions that arrived again, or at two consumers
   * @param outOfOrder versions that arrived after a later one, in another channel, or against the
   *     order of all events
   * @param unexpected versions that arrived but were not acknowledged
   */
  record Verdict(long rows, long lost, long doubled, long outOfOrder, long unexpected) {

    /**
     * Compares the written with the received versions.
     *
     * @param written the acknowledged versions
     * @param seen the versions that each consumer has received
     * @param doubled versions that arrived again, by the consumers' counts
     * @param outOfOrder by the consumers' counts
     */
    static Verdict of(RowSet written, List<RowSet> seen, long doubled, long outOfOrder) {
      long size = written.size();
      for (RowSet each : seen) {
        size = Math.max(size, each.size());
      }
      long rows = 0;
      long lost = 0;
      long twice = doubled;
      long unexpected = 0;
      for (long row = 0; row < size; row++) {
        int acknowledged = written.get(row);
        int found = 0;
        for (RowSet each : seen) {
          int its = each.get(row);
          twice += Integer.bitCount(found & its);
          found |= its;
        }
        rows += Integer.bitCount(acknowledged);
        lost += Integer.bitCount(acknowledged & ~found);
        unexpected += Integer.bitCount(found & ~acknowledged);
      }
      return new Verdict(rows, lost, twice, outOfOrder, unexpected);
    }

    /** Whether there are no faults. */
    boolean isGood() {
      return lost == 0 && doubled == 0 && outOfOrder == 0 && unexpected == 0;
    }
  }

  /**
   * Adds a row of the snapshot that is read before the stream. No event may have this version or an
   * earlier one.
   */
  void snapshot(long row, int version) {
    read.increment();
    if (seen.set(row, (2 << version) - 2) != 0) {
      doubled.increment();
    }
  }

  /**
   * Adds a version of a row from a channel.
   *
   * @param channel from 0 to 254
   * @return whether it arrived for the first time
   */
  boolean take(int channel, long row, int version) {
    int before = seen.add(row, version);
    if ((before & (1 << version)) != 0) {
      doubled.increment();
      return false;
    }
    distinct.increment();
    boolean laterSeen = before > 1 << version;
    int knownChannel = channels.set(row, channel + 1);
    if (laterSeen || (knownChannel != 0 && knownChannel != channel + 1)) {
      outOfOrder.increment();
    }
    return true;
  }

  /** Counts a signal that arrived again. */
  void again() {
    doubled.increment();
  }

  /** Counts an event that arrived before its predecessor in the order of all events. */
  void stepBack() {
    outOfOrder.increment();
  }

  /** The number of rows of the snapshot. */
  long read() {
    return read.sum();
  }

  /** The number of versions from the stream so far, each once. */
  long distinct() {
    return distinct.sum();
  }

  /** The number of versions that arrived again. */
  long doubled() {
    return doubled.sum();
  }

  /** The number of versions that arrived too early or too late. */
  long outOfOrder() {
    return outOfOrder.sum();
  }

  /** The versions from the snapshot and the stream; call it when no channel is active. */
  RowSet seen() {
    return seen;
  }

  /** Compares the versions from this stream only with the written versions. */
  Verdict verdict(RowSet written) {
    return Verdict.of(written, List.of(seen), doubled(), outOfOrder());
  }
}
