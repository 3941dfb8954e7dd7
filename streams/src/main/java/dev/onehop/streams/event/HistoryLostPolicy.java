package dev.onehop.streams.event;

/** The behaviour of a stream when a shard no longer has the next events. */
public enum HistoryLostPolicy {
  /** The stream fails with a {@link HistoryLostException}. */
  FAIL,

  /**
   * The stream emits a {@link StreamEvent.HistoryLost} and continues with the oldest events that
   * the shard still has.
   */
  CONTINUE
}
