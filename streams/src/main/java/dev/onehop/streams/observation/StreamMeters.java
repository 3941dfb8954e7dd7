package dev.onehop.streams.observation;

/**
 * The Micrometer meters of change streams, by name. Each has the tag {@code stream}: the collection
 * or database that is watched, or {@code cluster}; the meters of a shard have the tag {@code
 * shard}, its id, or {@code none} if the events come from no shard. If two subscriptions have the
 * same tags, the gauges are of the one that started last; counters and timers include both.
 *
 * <p>A lag is recorded once for many events: it is the longest among them. They have the
 * percentiles 0.5, 0.95 and 0.99.
 */
public enum StreamMeters {
  /**
   * Timer: from the commit of a batch's first event to the batch's arrival in this process. Tags:
   *
   * <ul>
   *   <li>{@code shard}
   *   <li>{@code commit}: {@code wallTime} if the server has sent it, in milliseconds of the
   *       primary's clock; else {@code clusterTime}, in whole seconds, so that the lag is up to a
   *       second too long. If the clock of this process is behind the server's, the lag is too
   *       short, at least 0.
   * </ul>
   */
  LAG_RECEIVED("onehop.stream.lag.received"),
  /**
   * Timer: from the arrival of events until they are passed to the subscriber. It contains the wait
   * for the order of events and for a slow subscriber.
   */
  LAG_RELEASED("onehop.stream.lag.released"),
  /**
   * Timer: from the arrival of a batch's first event at the channels to the batch's
   * acknowledgement. Without tags; only for {@code ChangeChannels}.
   */
  LAG_ACKNOWLEDGED("onehop.stream.lag.acknowledged"),
  /** Counter: events that a shard has sent. Tag: {@code shard}. */
  EVENTS("onehop.stream.events"),
  /** Counter: bytes of these events. Tag: {@code shard}. */
  BYTES("onehop.stream.bytes"),
  /** Counter: replies to {@code getMore}. Tag: {@code shard}. */
  REFILLS("onehop.stream.refills"),
  /** Counter: times that a shard's cursor was opened again. Tag: {@code shard}. */
  REOPENINGS("onehop.stream.reopenings"),
  /**
   * Gauge, in whole seconds of cluster time: the lag of a shard's stream behind the most advanced
   * shard. The shard with the highest value holds back the low mark. Tag: {@code shard}.
   */
  BEHIND("onehop.stream.behind"),
  /**
   * Gauge, in seconds: the time for which arrived events have waited for a shard without a pause; 0
   * if none wait for it. Tag: {@code shard}.
   */
  AWAITED("onehop.stream.awaited"),
  /**
   * Gauge, in seconds: the time for which the stream's position has not moved although the
   * cluster's clock has; 0 while it moves. {@link StreamListener#stalled} has the cause.
   */
  STALLED("onehop.stream.stalled"),
  /**
   * Gauge, in whole seconds: the distance of the stream's position from the oldest entry of a
   * shard's oplog, which is read every ten seconds. At 0 events are lost. It needs {@code find} on
   * {@code local.oplog.rs}; without this right the gauge does not exist. Tag: {@code shard}.
   */
  OPLOG_LEFT("onehop.stream.oplog.left"),
  /**
   * Timer: reads of the placement from the config servers, after the first. Tag: {@code outcome}
   * ({@code ok} or {@code failed}).
   */
  PLACEMENTS("onehop.stream.placements"),
  /** Counter: times that a shard had lost events. Tag: {@code shard}. */
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
