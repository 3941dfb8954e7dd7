package dev.onehop.measure.delivery;

import java.util.ArrayList;
import java.util.List;

/**
 * Where the hashes of rows lie: in all of the 32-bit integers, or in some ranges of them only, so
 * that a shard which owns the others gets no rows. Immutable.
 */
public final class HashRanges {

  private static final long LEAST = Integer.MIN_VALUE;
  private static final long END = Integer.MAX_VALUE + 1L;
  private static final HashRanges ALL = new HashRanges(List.of(new Range(LEAST, END)));

  private final List<Range> ranges;
  private final long total;

  /** From a hash up to one before another. */
  record Range(long from, long to) {}

  private HashRanges(List<Range> ranges) {
    this.ranges = ranges;
    this.total = ranges.stream().mapToLong(range -> range.to() - range.from()).sum();
  }

  /** All of them. */
  public static HashRanges all() {
    return ALL;
  }

  /**
   * Some ranges.
   *
   * @param ranges without overlaps, within the 32-bit integers, at least one that is not empty
   */
  static HashRanges of(List<Range> ranges) {
    HashRanges some = new HashRanges(List.copyOf(ranges));
    if (some.total <= 0) {
      throw new IllegalArgumentException("no hashes in " + ranges);
    }
    return some;
  }

  /** The hash of a row, the same each time; those of many rows are spread evenly. */
  public int hash(long row) {
    // SplitMix64, see https://prng.di.unimi.it/splitmix64.c
    long mixed = row + 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    mixed ^= mixed >>> 31;
    long place = ((mixed >>> 32) * total) >>> 32;
    for (Range range : ranges) {
      long length = range.to() - range.from();
      if (place < length) {
        return (int) (range.from() + place);
      }
      place -= length;
    }
    throw new IllegalStateException("beyond all ranges");
  }

  /**
   * Where to split so that there are equal ranges.
   *
   * @param chunks how many, at least 1
   */
  static List<Integer> splitPoints(int chunks) {
    List<Integer> points = new ArrayList<>();
    for (int i = 1; i < chunks; i++) {
      points.add((int) (LEAST + (END - LEAST) * i / chunks));
    }
    return points;
  }
}
