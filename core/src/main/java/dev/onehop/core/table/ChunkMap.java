package dev.onehop.core.table;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/**
 * Chunks that cover all keys without gaps or overlaps, in buckets. A changed map shares all buckets
 * without changes. Immutable.
 */
final class ChunkMap {
  /**
   * The largest number of chunks in a bucket. With this size, the numbers that are searched in a
   * bucket fill 512 bytes, a few cache lines. For a million chunks, the numbers that are searched
   * to find the bucket fill 128 KiB, which stay in the processor's cache.
   */
  private static final int BUCKET = 64;

  private static final int SMALL_BUCKET = BUCKET / 4;

  private final ChunkBucket[] buckets;

  /**
   * The keys of each bucket. The buckets have them, too, but then a lookup would need one more
   * access to memory.
   */
  private final SortedKeys[] mins;

  /** The index of each bucket's first chunk; the last element is the number of chunks. */
  private final int[] starts;

  private final SortedKeys bucketMins;
  private final byte[] end;
  private final Bounds bounds;

  /** Converts keys to text for messages. */
  interface Bounds {
    String describe(byte[] key);
  }

  private ChunkMap(List<ChunkBucket> buckets, byte[] end, Bounds bounds) {
    this.buckets = buckets.toArray(ChunkBucket[]::new);
    this.end = end;
    this.bounds = bounds;
    starts = new int[this.buckets.length + 1];
    mins = new SortedKeys[this.buckets.length];
    List<byte[]> firsts = new ArrayList<>(this.buckets.length);
    for (int i = 0; i < this.buckets.length; i++) {
      starts[i + 1] = Math.addExact(starts[i], this.buckets[i].size());
      mins[i] = this.buckets[i].mins();
      firsts.add(mins[i].get(0));
    }
    bucketMins = SortedKeys.of(firsts);
  }

  /**
   * Packs chunks, given in any order. They must cover {@code start..end}. If chunks overlap, the
   * newer chunks are kept, because the older chunks may have changed during the read.
   *
   * @throws InconsistentRoutingTableException if gaps or overlaps remain
   */
  static ChunkMap of(List<ChunkRow> rows, byte[] start, byte[] end, Bounds bounds) {
    List<ChunkRow> sorted = new ArrayList<>(rows);
    sorted.sort((a, b) -> Arrays.compareUnsigned(a.min(), b.min()));
    try {
      requireContiguous(sorted, start, end, bounds);
    } catch (InconsistentRoutingTableException asRead) {
      sorted = withoutDisplaced(sorted);
      try {
        requireContiguous(sorted, start, end, bounds);
      } catch (InconsistentRoutingTableException stillThen) {
        throw asRead;
      }
    }
    List<ChunkBucket> buckets = new ArrayList<>(sorted.size() / BUCKET + 1);
    split(sorted, buckets);
    return new ChunkMap(buckets, end, bounds);
  }

  int size() {
    return starts[buckets.length];
  }

  /** The index of the chunk that contains a key. */
  int indexOf(byte[] key) {
    int bucket = bucketMins.floor(key);
    return starts[bucket] + mins[bucket].floor(key);
  }

  int shardOf(byte[] key) {
    int bucket = bucketMins.floor(key);
    return buckets[bucket].shard(mins[bucket].floor(key));
  }

  int shard(int index) {
    int bucket = bucketAt(index);
    return buckets[bucket].shard(index - starts[bucket]);
  }

  ChunkRow row(int index) {
    int bucket = bucketAt(index);
    return buckets[bucket].row(index - starts[bucket], endOf(bucket));
  }

  /** The index of the last chunk that starts below {@code bound}. */
  int lastBelow(byte[] bound) {
    int index = indexOf(bound);
    int bucket = bucketAt(index);
    boolean beginsThere = Arrays.equals(buckets[bucket].mins().get(index - starts[bucket]), bound);
    return beginsThere && index > 0 ? index - 1 : index;
  }

  interface ChunkVisitor {
    void visit(int shard, long version);
  }

  /** Visits the chunks {@code from..to}, both included. */
  void forEach(int from, int to, ChunkVisitor visitor) {
    int bucket = bucketAt(from);
    for (int index = from; index <= to; bucket++) {
      ChunkBucket current = buckets[bucket];
      int last = Math.min(to, starts[bucket + 1] - 1);
      for (; index <= last; index++) {
        visitor.visit(
            current.shard(index - starts[bucket]), current.version(index - starts[bucket]));
      }
    }
  }

  /**
   * Returns a map in which newer chunks replace the chunks that they overlap.
   *
   * @param changed the newer chunks, from the oldest to the newest. Among them, too, a newer chunk
   *     replaces the older chunks that it overlaps
   * @throws InconsistentRoutingTableException if the result has a gap or an overlap
   */
  ChunkMap merge(List<ChunkRow> changed) {
    changed.forEach(row -> requireAscending(row, bounds));
    NavigableMap<byte[], ChunkRow> overlay = overlay(changed);
    BitSet touched = touchedBuckets(overlay);
    List<ChunkBucket> result = new ArrayList<>(buckets.length + 1);
    for (int i = 0; i < buckets.length; ) {
      if (touched.get(i)) {
        int until = touched.nextClearBit(i);
        List<ChunkRow> rows = mergedRows(i, until, overlay);
        while (rows.size() < SMALL_BUCKET && until < buckets.length && !touched.get(until)) {
          addRows(until++, rows);
        }
        requireContiguous(rows, buckets[i].mins().get(0), endOf(until - 1), bounds);
        split(rows, result);
        i = until;
      } else {
        result.add(buckets[i++]);
      }
    }
    return new ChunkMap(result, end, bounds);
  }

  /**
   * The chunks that no newer chunk overlaps. Overlapping chunks of the same version are all kept.
   */
  private static List<ChunkRow> withoutDisplaced(List<ChunkRow> sorted) {
    List<ChunkRow> result = null;
    for (int from = 0; from < sorted.size(); ) {
      int to = endOfOverlap(sorted, from);
      if (to > from + 1 && result == null) {
        result = new ArrayList<>(sorted.subList(0, from));
      }
      if (result != null) {
        result.addAll(to > from + 1 ? newest(sorted.subList(from, to)) : sorted.subList(from, to));
      }
      from = to;
    }
    return result == null ? sorted : result;
  }

  /**
   * The end of the overlapping chunks from {@code from} on: the index of the next chunk that
   * overlaps none of the chunks before it.
   */
  private static int endOfOverlap(List<ChunkRow> sorted, int from) {
    byte[] covered = sorted.get(from).max();
    int to = from + 1;
    for (; to < sorted.size(); to++) {
      ChunkRow row = sorted.get(to);
      if (Arrays.compareUnsigned(row.min(), covered) >= 0) {
        break;
      }
      if (Arrays.compareUnsigned(row.max(), covered) > 0) {
        covered = row.max();
      }
    }
    return to;
  }

  private static Collection<ChunkRow> newest(List<ChunkRow> overlapping) {
    List<ChunkRow> byVersion = new ArrayList<>(overlapping);
    byVersion.sort(ChunkRow.OLDEST_FIRST);
    for (int i = 0; i < byVersion.size(); i++) {
      ChunkRow row = byVersion.get(i);
      boolean newerThanBefore = i == 0 || byVersion.get(i - 1).version() != row.version();
      if (!newerThanBefore || Arrays.compareUnsigned(row.min(), row.max()) >= 0) {
        return overlapping;
      }
    }
    return overlay(byVersion).values();
  }

  private static NavigableMap<byte[], ChunkRow> overlay(List<ChunkRow> changed) {
    NavigableMap<byte[], ChunkRow> overlay = new TreeMap<>(Arrays::compareUnsigned);
    for (ChunkRow row : changed) {
      Map.Entry<byte[], ChunkRow> before = overlay.lowerEntry(row.min());
      if (before != null && Arrays.compareUnsigned(before.getValue().max(), row.min()) > 0) {
        overlay.remove(before.getKey());
      }
      overlay.subMap(row.min(), row.max()).clear();
      overlay.put(row.min(), row);
    }
    return overlay;
  }

  private BitSet touchedBuckets(NavigableMap<byte[], ChunkRow> overlay) {
    BitSet touched = new BitSet(buckets.length);
    for (ChunkRow row : overlay.values()) {
      touched.set(bucketMins.floor(row.min()), bucketAt(lastBelow(row.max())) + 1);
    }
    return touched;
  }

  private List<ChunkRow> mergedRows(int from, int until, NavigableMap<byte[], ChunkRow> overlay) {
    List<ChunkRow> old = new ArrayList<>((until - from) * BUCKET);
    for (int i = from; i < until; i++) {
      addRows(i, old);
    }
    byte[] first = buckets[from].mins().get(0);
    Iterator<ChunkRow> newer =
        (until == buckets.length
                ? overlay.tailMap(first)
                : overlay.subMap(first, buckets[until].mins().get(0)))
            .values()
            .iterator();
    List<ChunkRow> merged = new ArrayList<>(old.size() + 16);
    ChunkRow next = newer.hasNext() ? newer.next() : null;
    for (ChunkRow row : old) {
      while (next != null && Arrays.compareUnsigned(next.min(), row.min()) <= 0) {
        merged.add(next);
        next = newer.hasNext() ? newer.next() : null;
      }
      ChunkRow below = merged.isEmpty() ? null : merged.get(merged.size() - 1);
      boolean displaced =
          (below != null && Arrays.compareUnsigned(below.max(), row.min()) > 0)
              || (next != null && Arrays.compareUnsigned(next.min(), row.max()) < 0);
      if (!displaced) {
        merged.add(row);
      }
    }
    while (next != null) {
      merged.add(next);
      next = newer.hasNext() ? newer.next() : null;
    }
    return merged;
  }

  private void addRows(int bucket, List<ChunkRow> rows) {
    for (int i = 0; i < buckets[bucket].size(); i++) {
      rows.add(buckets[bucket].row(i, endOf(bucket)));
    }
  }

  private byte[] endOf(int bucket) {
    return bucket + 1 < buckets.length ? buckets[bucket + 1].mins().get(0) : end;
  }

  private int bucketAt(int index) {
    int found = Arrays.binarySearch(starts, index);
    return found >= 0 ? found : -found - 2;
  }

  private static void split(List<ChunkRow> rows, List<ChunkBucket> into) {
    int parts = Math.max(1, (rows.size() + BUCKET - 1) / BUCKET);
    for (int i = 0; i < parts; i++) {
      int from = (int) ((long) rows.size() * i / parts);
      int to = (int) ((long) rows.size() * (i + 1) / parts);
      if (from < to) {
        into.add(ChunkBucket.of(rows.subList(from, to)));
      }
    }
  }

  private static void requireContiguous(
      List<ChunkRow> rows, byte[] start, byte[] end, Bounds bounds) {
    byte[] covered = start;
    for (ChunkRow row : rows) {
      requireAscending(row, bounds);
      requireMet(covered, row.min(), bounds);
      covered = row.max();
    }
    requireMet(covered, end, bounds);
  }

  private static void requireAscending(ChunkRow row, Bounds bounds) {
    if (Arrays.compareUnsigned(row.min(), row.max()) >= 0) {
      throw new InconsistentRoutingTableException(
          "a chunk whose min "
              + bounds.describe(row.min())
              + " is not below its max "
              + bounds.describe(row.max()));
    }
  }

  private static void requireMet(byte[] covered, byte[] next, Bounds bounds) {
    int order = Arrays.compareUnsigned(covered, next);
    if (order != 0) {
      boolean gap = order < 0;
      throw new InconsistentRoutingTableException(
          (gap ? "a gap between chunks: no chunk holds [" : "chunks overlap in [")
              + bounds.describe(gap ? covered : next)
              + ", "
              + bounds.describe(gap ? next : covered)
              + ")");
    }
  }
}
