package dev.onehop.measure.delivery;

import java.io.IOException;
import java.nio.file.Path;

/**
 * A set of versions of rows: bit v of a row's byte stands for its version v. Several threads may
 * add to it at the same time, each row by one of them at a time.
 */
final class RowVersions {

  /** The highest version that there can be. */
  static final int MOST = 7;

  private final RowBytes bits;

  RowVersions() {
    this(new RowBytes());
  }

  private RowVersions(RowBytes bits) {
    this.bits = bits;
  }

  /**
   * Adds one.
   *
   * @param row from 0
   * @param version from 1 to {@link #MOST}
   * @return the row's bits before
   */
  int add(long row, int version) {
    if (version < 1 || version > MOST) {
      throw new IllegalArgumentException("version " + version);
    }
    int before = bits.get(row);
    return bits.set(row, before | (1 << version));
  }

  /** A row's bits. */
  int of(long row) {
    return bits.get(row);
  }

  /** Above all rows in it. */
  long size() {
    return bits.size();
  }

  void write(Path file) throws IOException {
    bits.write(file);
  }

  static RowVersions read(Path file) throws IOException {
    return new RowVersions(RowBytes.read(file));
  }
}
