package dev.onehop.core.table;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/**
 * Ascending keys in one block of bytes, for a fast search of the greatest key not above a given
 * key.
 *
 * <p>The common prefix of all keys but the first is stored once. The first eight bytes of each
 * remainder are also stored as a number. A search compares the common prefix once, then the
 * numbers. It compares bytes only if numbers are equal. The first key is separate for two reasons:
 * no searched key is below it, and it is often the lower end of all keys, which shares no prefix
 * with the others. Immutable.
 */
final class SortedKeys {
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private final byte[] first;
  private final byte[] common;

  /** The length of {@code common}, so that a search need not load this array. */
  private final int skipped;

  private final long[] heads;
  private final byte[] rests;
  private final int[] restEnds;

  private SortedKeys(byte[] first, byte[] common, long[] heads, byte[] rests, int[] restEnds) {
    this.first = first;
    this.common = common;
    this.skipped = common.length;
    this.heads = heads;
    this.rests = rests;
    this.restEnds = restEnds;
  }

  /** Packs one or more keys. They must already be in strictly ascending order. */
  static SortedKeys of(List<byte[]> keys) {
    int size = keys.size();
    byte[] first = keys.get(0);
    byte[] common = size == 1 ? new byte[0] : commonPrefix(keys.get(1), keys.get(size - 1));
    int total = 0;
    for (int i = 1; i < size; i++) {
      total = Math.addExact(total, keys.get(i).length - common.length);
    }
    byte[] rests = new byte[total];
    int[] restEnds = new int[size];
    long[] heads = new long[size];
    int end = 0;
    for (int i = 1; i < size; i++) {
      byte[] key = keys.get(i);
      int length = key.length - common.length;
      System.arraycopy(key, common.length, rests, end, length);
      end += length;
      restEnds[i] = end;
      heads[i] = head(key, common.length);
    }
    return new SortedKeys(first, common, heads, rests, restEnds);
  }

  int size() {
    return heads.length;
  }

  byte[] get(int index) {
    if (index == 0) {
      return first;
    }
    int start = restEnds[index - 1];
    int length = restEnds[index] - start;
    byte[] key = Arrays.copyOf(common, common.length + length);
    System.arraycopy(rests, start, key, common.length, length);
    return key;
  }

  /** The index of the greatest key not above {@code key}; also 0 if all are above. */
  int floor(byte[] key) {
    int size = heads.length;
    int mismatch =
        Arrays.mismatch(key, 0, Math.min(key.length, common.length), common, 0, common.length);
    if (mismatch >= 0) {
      boolean below = mismatch >= key.length || (key[mismatch] & 0xFF) < (common[mismatch] & 0xFF);
      return below ? 0 : size - 1;
    }
    long head = head(key, skipped);
    // The search uses branches, so that the processor predicts them and reads memory in advance.
    // heads[0] belongs to no key and is never read, because the first key is never above the
    // searched key.
    int base = 0;
    int above = size;
    while (above - base > 1) {
      int middle = (base + above) >>> 1;
      long found = heads[middle];
      if (found < head) {
        base = middle;
      } else if (found > head) {
        above = middle;
      } else {
        return floorAmongEqualHeads(key, head, lastOf(head, middle, above));
      }
    }
    return base;
  }

  /**
   * The index of the last key with this head. The key at {@code from} has the head; no key at
   * {@code above} or later has it.
   */
  private int lastOf(long head, int from, int above) {
    int last = from;
    int beyond = above;
    while (beyond - last > 1) {
      int middle = (last + beyond) >>> 1;
      if (heads[middle] == head) {
        last = middle;
      } else {
        beyond = middle;
      }
    }
    return last;
  }

  private int floorAmongEqualHeads(byte[] key, long head, int last) {
    int low = 0;
    int high = last + 1;
    while (high - low > 1) {
      int middle = (low + high) >>> 1;
      if (heads[middle] < head || compareRest(key, middle) >= 0) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private int compareRest(byte[] key, int index) {
    return Arrays.compareUnsigned(
        key, common.length, key.length, rests, restEnds[index - 1], restEnds[index]);
  }

  /**
   * Eight bytes from {@code offset} on as a number, with 0 for each missing byte. The numbers have
   * the same order as the bytes.
   */
  private static long head(byte[] key, int offset) {
    if (key.length - offset >= Long.BYTES) {
      return (long) LONG.get(key, offset) ^ Long.MIN_VALUE;
    }
    long head = 0;
    for (int i = 0; i < Long.BYTES; i++) {
      head = head << 8 | (offset + i < key.length ? key[offset + i] & 0xFF : 0);
    }
    return head ^ Long.MIN_VALUE;
  }

  private static byte[] commonPrefix(byte[] a, byte[] b) {
    int mismatch = Arrays.mismatch(a, b);
    return Arrays.copyOf(a, mismatch < 0 ? a.length : mismatch);
  }
}
