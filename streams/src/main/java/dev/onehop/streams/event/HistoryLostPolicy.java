package dev.onehop.streams.event;

/** What happens when a shard no longer has the events from where the stream has to go on. */
public enum HistoryLostPolicy {
  /** The stream fails with a {@link HistoryLostException}. */
  FAIL,

  /**
   * The stream gives a {@link StreamEvent.HistoryLost} and goes on with the oldest events that the
   * shard still has.
   */
  CONTINUE
}
