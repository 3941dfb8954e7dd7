package dev.onehop.measure.delivery;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A byte for each row, 0 at first, for rows from 0 on. Several threads may use it at the same time,
 * each row by one of them at a time.
 */
final class RowBytes {

  private static final int SEGMENT_BITS = 18;
  private static final int SEGMENT = 1 << SEGMENT_BITS;

  private volatile byte[][] segments;

  RowBytes() {
    this(new byte[0][]);
  }

  private RowBytes(byte[][] segments) {
    this.segments = segments;
  }

  /** A row's byte, as a number from 0 to 255. */
  int get(long row) {
    int index = Math.toIntExact(row >> SEGMENT_BITS);
    byte[][] all = segments;
    return index < all.length ? all[index][within(row)] & 0xFF : 0;
  }

  /** Sets a row's byte and returns what it was before. */
  int set(long row, int value) {
    int index = Math.toIntExact(row >> SEGMENT_BITS);
    byte[][] all = segments;
    byte[] segment = index < all.length ? all[index] : grown(index);
    int before = segment[within(row)] & 0xFF;
    segment[within(row)] = (byte) value;
    return before;
  }

  /** Above all rows that were set. */
  long size() {
    return (long) segments.length << SEGMENT_BITS;
  }

  private static int within(long row) {
    return (int) (row & (SEGMENT - 1));
  }

  private synchronized byte[] grown(int index) {
    int length = segments.length;
    if (index >= length) {
      byte[][] more = Arrays.copyOf(segments, index + 1);
      for (int i = length; i <= index; i++) {
        more[i] = new byte[SEGMENT];
      }
      segments = more;
    }
    return segments[index];
  }

  /** Writes all to a file; nothing may be set meanwhile. */
  void write(Path file) throws IOException {
    try (OutputStream out = Files.newOutputStream(file)) {
      for (byte[] segment : segments) {
        out.write(segment);
      }
    }
  }

  /** Reads what {@link #write} has written. */
  static RowBytes read(Path file) throws IOException {
    byte[] all = Files.readAllBytes(file);
    if (all.length % SEGMENT != 0) {
      throw new IOException(file + " has " + all.length + " bytes, which are no whole segments");
    }
    byte[][] segments = new byte[all.length >> SEGMENT_BITS][];
    for (int i = 0; i < segments.length; i++) {
      segments[i] = Arrays.copyOfRange(all, i << SEGMENT_BITS, (i + 1) << SEGMENT_BITS);
    }
    return new RowBytes(segments);
  }
}
