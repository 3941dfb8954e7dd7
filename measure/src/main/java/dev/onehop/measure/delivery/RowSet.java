package dev.onehop.measure.delivery;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;

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

  private final ConcurrentNavigableMap<Integer, byte[]> segments = new ConcurrentSkipListMap<>();

  /** Returns a row's byte, as a number from 0 to 255. */
  int get(long row) {
    byte[] segment = segments.get(index(row));
    return segment == null ? 0 : segment[within(row)] & 0xFF;
  }

  /** Sets a row's byte and returns its former value. */
  int set(long row, int value) {
    byte[] segment = segments.computeIfAbsent(index(row), index -> new byte[SEGMENT]);
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
    return segments.isEmpty() ? 0 : (segments.lastKey() + 1L) << SEGMENT_BITS;
  }

  private static int index(long row) {
    return Math.toIntExact(row >> SEGMENT_BITS);
  }

  private static int within(long row) {
    return (int) (row & (SEGMENT - 1));
  }

  /** Writes all rows to a file. No row may be set during the call. */
  void write(Path file) throws IOException {
    try (OutputStream out = Files.newOutputStream(file)) {
      for (int i = 0; i < size() >> SEGMENT_BITS; i++) {
        out.write(segments.getOrDefault(i, new byte[SEGMENT]));
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
    for (int from = 0; from < all.length; from += SEGMENT) {
      set.segments.put(index(from), Arrays.copyOfRange(all, from, from + SEGMENT));
    }
    return set;
  }
}
