package dev.onehop.measure.delivery;

import java.util.List;

/**
 * Whether consumers have seen what was written, no more and no less, and in order.
 *
 * @param rows rows that were acknowledged to the writer
 * @param lost of them, those that no consumer has seen
 * @param doubled rows that a consumer has seen again, or another consumer, too
 * @param outOfOrder rows that came after a later version, in another channel, or against the order
 *     of all
 * @param unexpected rows that were seen and never acknowledged
 */
record Verdict(long rows, long lost, long doubled, long outOfOrder, long unexpected) {

  /**
   * Compares.
   *
   * @param written what was acknowledged
   * @param seen what each consumer has seen
   * @param doubled rows that one consumer has seen again, over all of them
   * @param outOfOrder over all of them
   */
  static Verdict of(RowVersions written, List<RowVersions> seen, long doubled, long outOfOrder) {
    long size = written.size();
    for (RowVersions each : seen) {
      size = Math.max(size, each.size());
    }
    long rows = 0;
    long lost = 0;
    long twice = doubled;
    long unexpected = 0;
    for (long row = 0; row < size; row++) {
      int acknowledged = written.of(row);
      int found = 0;
      for (RowVersions each : seen) {
        int its = each.of(row);
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
