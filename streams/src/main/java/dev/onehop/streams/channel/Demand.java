package dev.onehop.streams.channel;

/**
 * The demand for events of a stream, limited by the number and the bytes of kept events. The size
 * of requested events is unknown, so few are requested at a time. Not thread-safe.
 */
final class Demand {
  /** The most bytes to keep; a stream may exceed it by {@link #AT_ONCE} events. */
  static final long MOST_BYTES = 64L << 20;

  static final int AT_ONCE = 128;

  private final int most;
  private int requested;
  private int kept;
  private long bytes;

  /**
   * @param most the most events to keep
   */
  Demand(int most) {
    this.most = most;
  }

  /** Called after the subscription to another stream. */
  void restart() {
    requested = 0;
  }

  void arrived(long size) {
    requested--;
    kept++;
    bytes += size;
  }

  /** Called when an event of this size is no longer kept. */
  void freed(long size) {
    kept--;
    bytes -= size;
  }

  /**
   * The number of events to request now, which then counts as requested. Returns many or none,
   * because each request has a cost.
   */
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
