package dev.onehop.streams.observation;

/**
 * The Micrometer meters of change streams, by name. Each has the tag {@code stream}: the collection
 * or database that is watched, or {@code cluster}; those of a shard have the tag {@code shard}, its
 * id, {@code none} where the events come from no shard. Of two subscriptions with the same tags the
 * one that began last has the gauges; counters and timers have both.
 *
 * <p>The lags are taken once for many events: each is the longest among them. They have the
 * percentiles 0.5, 0.95 and 0.99.
 */
public enum StreamMeters {
  /**
   * Timer: from the commit of a batch's first event to the batch's arrival in this process. Tags:
   *
   * <ul>
   *   <li>{@code shard}
   *   <li>{@code commit}: {@code wallTime} where the server has sent that, in milliseconds of the
   *       primary's clock; else {@code clusterTime}, in whole seconds, so that it is up to a second
   *       too long. Where this process' clock is behind the server's, it is too short, at least 0.
   * </ul>
   */
  LAG_RECEIVED("onehop.stream.lag.received"),
  /**
   * Timer: from the arrival of events to the moment at which they are given to the subscriber. That
   * is what the order costs, and the wait for a subscriber that is slow.
   */
  LAG_RELEASED("onehop.stream.lag.released"),
  /**
   * Timer: from the moment at which channels are given the first event of a batch to the batch's
   * acknowledgement. Without tags; only of {@code ChangeChannels}.
   */
  LAG_ACKNOWLEDGED("onehop.stream.lag.acknowledged"),
  /** Counter: events that a shard has sent. Tag: {@code shard}. */
  EVENTS("onehop.stream.events"),
  /** Counter: their bytes. Tag: {@code shard}. */
  BYTES("onehop.stream.bytes"),
  /** Counter: answers to {@code getMore}. Tag: {@code shard}. */
  REFILLS("onehop.stream.refills"),
  /** Counter: how often a shard's cursor was opened again. Tag: {@code shard}. */
  REOPENINGS("onehop.stream.reopenings"),
  /**
   * Gauge, in whole seconds of cluster time: how far a shard's stream is behind that of the shard
   * which has come furthest. The highest is the shard that holds the low mark back. Tag: {@code
   * shard}.
   */
  BEHIND("onehop.stream.behind"),
  /**
   * Gauge, in seconds: for how long events that have arrived have been waiting for a shard without
   * a pause; 0 if none wait for it. Tag: {@code shard}.
   */
  AWAITED("onehop.stream.awaited"),
  /**
   * Gauge, in whole seconds: how far the stream's place is ahead of the oldest entry of a shard's
   * oplog, which is looked at every ten seconds. At 0 events are lost. It needs {@code find} on
   * {@code local.oplog.rs}; without, there is no such gauge. Tag: {@code shard}.
   */
  OPLOG_LEFT("onehop.stream.oplog.left"),
  /**
   * Timer: reads of the placement from the config servers, after the first. Tag: {@code outcome}
   * ({@code ok} or {@code failed}).
   */
  PLACEMENTS("onehop.stream.placements"),
  /** Counter: how often a shard had lost events. Tag: {@code shard}. */
  HISTORY_LOST("onehop.stream.history.lost"),
  /** Counter: events that were too large to be sent. Tag: {@code shard}. */
  TOO_LARGE("onehop.stream.too.large");

  private final String meterName;

  StreamMeters(String meterName) {
    this.meterName = meterName;
  }

  /** The name under which the meter is registered. */
  public String meterName() {
    return meterName;
  }
}
