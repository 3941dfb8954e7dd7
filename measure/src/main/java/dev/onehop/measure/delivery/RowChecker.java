package dev.onehop.measure.delivery;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * Checks the versions of rows from a stream. A version must arrive once, after the row's earlier
 * versions, and in the same channel as the earlier versions. Several channels may add rows at the
 * same time, each channel from one thread at a time.
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
   * @param rows the number of versions that were acknowledged to the writer
   * @param lost the number of acknowledged versions that did not arrive
   * @param doubled the number of versions that arrived again, or at two consumers
   * @param outOfOrder the number of versions that arrived after a later version, in another
   *     channel, or against the order of all events
   * @param unexpected the number of versions that arrived without an acknowledgement of their write
   */
  record Verdict(long rows, long lost, long doubled, long outOfOrder, long unexpected) {

    /**
     * Compares the written versions with the received versions.
     *
     * @param written the acknowledged versions
     * @param seen the versions that each consumer has received
     * @param doubled the number of versions that arrived again, as the consumers counted it
     * @param outOfOrder the number of versions out of order, as the consumers counted it
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
  }

  /**
   * Adds a row of the snapshot that is read before the stream. No event may have this version of
   * the row or an earlier version.
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
   * @param channel the number of the channel, from 0 to 254
   * @return whether the version arrived for the first time
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

  /** The number of versions from the stream so far, each counted once. */
  long distinct() {
    return distinct.sum();
  }

  /** The number of versions that arrived again. */
  long doubled() {
    return doubled.sum();
  }

  /** The number of versions that arrived out of order. */
  long outOfOrder() {
    return outOfOrder.sum();
  }

  /** The versions from the snapshot and the stream. No channel may add versions during the call. */
  RowSet seen() {
    return seen;
  }

  /** Compares the written versions with the versions of this stream alone. */
  Verdict verdict(RowSet written) {
    return Verdict.of(written, List.of(seen), doubled(), outOfOrder());
  }
}
