package dev.onehop.streams.channel;

/** The size of a batch that is being made. Not thread-safe. */
final class BatchSize {
  /**
   * What a batch may have, unless it is one event: a sink writes it as one transaction, which a
   * server has to keep in its cache.
   */
  static final long MOST_BYTES = 16L << 20;

  private final int most;
  private int events;
  private long bytes;

  /**
   * @param most events
   */
  BatchSize(int most) {
    this.most = most;
  }

  /** Whether another event of this size goes in, upon which it counts. */
  boolean takes(long size) {
    if (events > 0 && (events == most || bytes + size > MOST_BYTES)) {
      return false;
    }
    events++;
    bytes += size;
    return true;
  }
}
