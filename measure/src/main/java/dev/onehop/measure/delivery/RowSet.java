package dev.onehop.measure.delivery;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * One byte for each row, with rows numbered from 0. A byte is 0 at first. If the bytes stand for
 * versions, bit v of a row's byte is 1 if version v of the row is present. Several threads may use
 * this class at the same time, but only one thread at a time for each row.
 */
final class RowSet {

  /** The highest version that a row can have. */
  static final int MOST_VERSIONS = 7;

  private static final int SEGMENT_BITS = 18;
  private static final int SEGMENT = 1 << SEGMENT_BITS;

  private volatile byte[][] segments = new byte[0][];

  /** Returns a row's byte, as a number from 0 to 255. */
  int get(long row) {
    int index = Math.toIntExact(row >> SEGMENT_BITS);
    byte[][] all = segments;
    return index < all.length ? all[index][within(row)] & 0xFF : 0;
  }

  /** Sets a row's byte and returns its former value. */
  int set(long row, int value) {
    byte[] segment = segment(Math.toIntExact(row >> SEGMENT_BITS));
    int before = segment[within(row)] & 0xFF;
    segment[within(row)] = (byte) value;
    return before;
  }

  /**
   * Adds a version of a row.
   *
   * @param version the version, from 1 to {@link #MOST_VERSIONS}
   * @return the row's former versions
   */
  int add(long row, int version) {
    if (version < 1 || version > MOST_VERSIONS) {
      throw new IllegalArgumentException("a row cannot have version " + version);
    }
    return set(row, get(row) | (1 << version));
  }

  /** A number above the numbers of all rows that were set. */
  long size() {
    return (long) segments.length << SEGMENT_BITS;
  }

  private static int within(long row) {
    return (int) (row & (SEGMENT - 1));
  }

  private byte[] segment(int index) {
    byte[][] all = segments;
    if (index < all.length) {
      return all[index];
    }
    synchronized (this) {
      int length = segments.length;
      if (index >= length) {
        byte[][] more = Arrays.copyOf(segments, index + 1);
        Arrays.setAll(more, i -> i < length ? more[i] : new byte[SEGMENT]);
        segments = more;
      }
      return segments[index];
    }
  }

  /** Writes all rows to a file. No row may be set during the call. */
  void write(Path file) throws IOException {
    try (OutputStream out = Files.newOutputStream(file)) {
      for (byte[] segment : segments) {
        out.write(segment);
      }
    }
  }

  /** Reads a file of {@link #write}. */
  static RowSet read(Path file) throws IOException {
    byte[] all = Files.readAllBytes(file);
    if (all.length % SEGMENT != 0) {
      throw new IOException(
          file + " has " + all.length + " bytes, which is not a whole number of segments");
    }
    RowSet set = new RowSet();
    byte[][] segments = new byte[all.length >> SEGMENT_BITS][];
    Arrays.setAll(
        segments, i -> Arrays.copyOfRange(all, i << SEGMENT_BITS, (i + 1) << SEGMENT_BITS));
    set.segments = segments;
    return set;
  }
}
