package dev.onehop.streams.channel;

/**
 * How much of a stream is requested: no more than may be kept, by number and by bytes. What is
 * requested has no size yet, so that is little at a time. Not thread-safe.
 */
final class Demand {
  /** What may be kept; a stream gives at most {@link #AT_ONCE} events more. */
  static final long MOST_BYTES = 64L << 20;

  static final int AT_ONCE = 128;

  private final int most;
  private int requested;
  private int kept;
  private long bytes;

  /**
   * @param most events that may be kept
   */
  Demand(int most) {
    this.most = most;
  }

  /** Another stream has been subscribed to. */
  void restart() {
    requested = 0;
  }

  void arrived(long size) {
    requested--;
    kept++;
    bytes += size;
  }

  /** An event of this size is no longer kept. */
  void freed(long size) {
    kept--;
    bytes -= size;
  }

  /** How many to request now, which counts as done; many at once, for each request costs. */
  int more() {
    int room = bytes < MOST_BYTES ? Math.min(AT_ONCE, most - kept) : 0;
    if (requested * 2 > room) {
      return 0;
    }
    int more = room - requested;
    requested = room;
    return more;
  }
}
