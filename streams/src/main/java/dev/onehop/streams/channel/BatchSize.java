package dev.onehop.streams.channel;

/** The size of a growing batch. Not thread-safe. */
final class BatchSize {
  /**
   * The most bytes of a batch with more than one event. The limit is necessary because a sink
   * writes a batch as one transaction, which the server keeps in its cache.
   */
  static final long MOST_BYTES = 16L << 20;

  private final int most;
  private int events;
  private long bytes;

  /**
   * @param most the most events
   */
  BatchSize(int most) {
    this.most = most;
  }

  /**
   * Adds an event of this size if it fits; the first event always fits. Returns whether it was
   * added. If not, it is the first event of the next batch, whose size is then counted.
   */
  boolean takes(long size) {
    boolean fits = events == 0 || (events < most && bytes + size <= MOST_BYTES);
    if (!fits) {
      events = 0;
      bytes = 0;
    }
    events++;
    bytes += size;
    return fits;
  }
}
