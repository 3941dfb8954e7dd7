package dev.onehop.streams.channel;

/**
 * Computes how many events to request from a stream. The number and the bytes of the events that
 * are kept in memory are limited. The size of an event is unknown before it arrives; therefore few
 * events are requested at a time. Not thread-safe.
 */
final class Demand {
  /**
   * The most bytes to keep. Up to {@link #AT_ONCE} events that were requested before may still
   * arrive after the limit is reached.
   */
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

  /** Called after the subscription to another stream. No events were requested from it yet. */
  void restart() {
    requested = 0;
  }

  void arrived(long size) {
    requested--;
    kept++;
    bytes += size;
  }

  /** Called when an event of this size is no longer kept in memory. */
  void freed(long size) {
    kept--;
    bytes -= size;
  }

  /**
   * Returns the number of events to request now, and counts them as requested. The result is 0
   * while more than half of the events for which there is room are requested already. This makes
   * requests rarer, because each request has a cost.
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
