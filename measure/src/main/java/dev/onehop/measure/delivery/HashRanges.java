package dev.onehop.measure.delivery;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The ranges from which rows get their hashes: all 32-bit integers, or some ranges of them. A shard
 * that owns none of these ranges gets no rows. Immutable.
 *
 * @param ranges ranges of 32-bit integers without overlaps; at least one of them is not empty
 */
record HashRanges(List<HashRanges.Range> ranges) {

  private static final long LEAST = Integer.MIN_VALUE;
  private static final long END = Integer.MAX_VALUE + 1L;
  private static final HashRanges ALL = new HashRanges(List.of(new Range(LEAST, END)));

  /** The hashes from {@code from} (inclusive) to {@code to} (exclusive). */
  record Range(long from, long to) {
    private long length() {
      return to - from;
    }
  }

  HashRanges {
    ranges = List.copyOf(ranges);
    if (total(ranges) <= 0) {
      throw new IllegalArgumentException("no hashes in " + ranges);
    }
  }

  private static long total(List<Range> ranges) {
    return ranges.stream().mapToLong(Range::length).sum();
  }

  /** All hashes. */
  static HashRanges all() {
    return ALL;
  }

  /**
   * Returns the hash of a row. It is always the same for the same row. The hashes of many rows are
   * distributed evenly.
   */
  int hash(long row) {
    // SplitMix64, see https://prng.di.unimi.it/splitmix64.c
    long mixed = row + 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    mixed ^= mixed >>> 31;
    long place = ((mixed >>> 32) * total(ranges)) >>> 32;
    for (Range range : ranges) {
      if (place < range.length()) {
        return (int) (range.from() + place);
      }
      place -= range.length();
    }
    throw new IllegalStateException("the hash is outside of all ranges");
  }

  /**
   * The split points for ranges of equal size.
   *
   * @param chunks the number of ranges, at least 1
   */
  static List<Integer> splitPoints(int chunks) {
    return IntStream.range(1, chunks)
        .mapToObj(i -> (int) (LEAST + (END - LEAST) * i / chunks))
        .toList();
  }
}
