package dev.onehop.measure.delivery;

import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * The versions of rows that a stream has given, each checked: it must come once, after the row's
 * versions before, and in the same channel as these. Several channels may add rows at the same
 * time, each in its own order.
 */
final class RowChecker {

  private final RowSet seen = new RowSet();

  /** The channel of each row, from 1; 0 if the row was not seen. */
  private final RowSet channels = new RowSet();

  private final LongAdder read = new LongAdder();
  private final LongAdder distinct = new LongAdder();
  private final LongAdder doubled = new LongAdder();
  private final LongAdder outOfOrder = new LongAdder();

  /**
   * What is wrong with what was seen. Immutable.
   *
   * @param rows versions of rows that were acknowledged to the writer
   * @param lost versions of these that nobody has seen
   * @param doubled versions that came again, or to two consumers
   * @param outOfOrder versions that came after a later one, in another channel, or against the
   *     order of all events
   * @param unexpected versions that were seen and never acknowledged
   */
  record Verdict(long rows, long lost, long doubled, long outOfOrder, long unexpected) {

    /**
     * Compares what was written with what was seen.
     *
     * @param written what was acknowledged
     * @param seen what each consumer has seen
     * @param doubled versions that came again, by the consumers' own counts
     * @param outOfOrder by the consumers' own counts
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

    /** Whether nothing is wrong. */
    boolean isGood() {
      return lost == 0 && doubled == 0 && outOfOrder == 0 && unexpected == 0;
    }
  }

  /**
   * Takes a row of a snapshot that is read before the stream: no event may bring this version or
   * one before it.
   */
  void snapshot(long row, int version) {
    read.increment();
    if (seen.set(row, (2 << version) - 2) != 0) {
      doubled.increment();
    }
  }

  /**
   * Takes a version of a row that a channel has given.
   *
   * @param channel from 0 to 254
   * @return whether it came for the first time
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

  /** Counts a signal that came again. */
  void again() {
    doubled.increment();
  }

  /** Counts an event that comes before the event ahead of it in the order of all events. */
  void stepBack() {
    outOfOrder.increment();
  }

  /** Rows of the snapshot. */
  long read() {
    return read.sum();
  }

  /** Versions that the stream gave so far, each once. */
  long distinct() {
    return distinct.sum();
  }

  /** Versions that came again. */
  long doubled() {
    return doubled.sum();
  }

  /** Versions that came too early or too late. */
  long outOfOrder() {
    return outOfOrder.sum();
  }

  /** The versions that were read or came; to be read when the channels are at rest. */
  RowSet seen() {
    return seen;
  }

  /** Compares what this stream alone has given with what was written. */
  Verdict verdict(RowSet written) {
    return Verdict.of(written, List.of(seen), doubled(), outOfOrder());
  }
}
