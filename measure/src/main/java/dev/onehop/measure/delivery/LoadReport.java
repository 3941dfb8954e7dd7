package dev.onehop.measure.delivery;

import java.util.List;

/**
 * What the clients of a process have found.
 *
 * @param paths by each path
 */
record LoadReport(List<OfPath> paths) {

  /** A report that left something out has none of it. */
  LoadReport {
    paths = paths == null ? List.of() : List.copyOf(paths);
  }

  /**
   * By one path; times in microseconds.
   *
   * @param sinceDue of changes
   * @param sinceBegan of changes
   * @param live of clients, until they were
   * @param read of clients, until all documents were
   */
  @SuppressWarnings("ArrayRecordComponent") // Read once.
  record OfPath(
      StreamPath path,
      long[] sinceDue,
      long[] sinceBegan,
      long[] live,
      long[] read,
      long lost,
      long doubled) {}
}
