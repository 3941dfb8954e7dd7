package dev.onehop.streams.observation;

/**
 * The Micrometer meters of change streams, by name. Each meter has the tag {@code stream}: the
 * watched collection or database, or {@code cluster}. The meters of a shard also have the tag
 * {@code shard}: the shard's id, or {@code none} if the events do not come from a shard. If two
 * subscriptions have the same tags, the gauges show the subscription that started last. Counters
 * and timers include both subscriptions.
 *
 * <p>The timers of lags record one value per batch of events: the longest lag in the batch. They
 * publish the percentiles 0.5, 0.95 and 0.99.
 */
public enum StreamMeters {
  /**
   * Timer: from the commit of a batch's first event to the batch's arrival in this process. Tags:
   *
   * <ul>
   *   <li>{@code shard}
   *   <li>{@code commit}: the field of the event that has the time of the commit. It is {@code
   *       wallTime} if the server sends this field, in milliseconds of the primary's clock.
   *       Otherwise it is {@code clusterTime}, in whole seconds, and the recorded lag is up to one
   *       second too long. If the clock of this process is behind the server's clock, the recorded
   *       lag is too short. It is never negative.
   * </ul>
   */
  LAG_RECEIVED("onehop.stream.lag.received"),
  /**
   * Timer: from the arrival of an event in this process until the subscriber receives it. It
   * contains the wait for events of other shards and for a slow subscriber.
   */
  LAG_RELEASED("onehop.stream.lag.released"),
  /**
   * Timer: from the arrival of a batch's first event at the channels to the batch's
   * acknowledgement. It has no tags. Only {@code ChangeChannels} record it.
   */
  LAG_ACKNOWLEDGED("onehop.stream.lag.acknowledged"),
  /** Counter: events that a shard has sent. Tag: {@code shard}. */
  EVENTS("onehop.stream.events"),
  /** Counter: bytes of the events that a shard has sent. Tag: {@code shard}. */
  BYTES("onehop.stream.bytes"),
  /** Counter: replies to {@code getMore}. Tag: {@code shard}. */
  REFILLS("onehop.stream.refills"),
  /** Counter: how often a shard's cursor was opened again. Tag: {@code shard}. */
  REOPENINGS("onehop.stream.reopenings"),
  /**
   * Gauge, in whole seconds of cluster time: the distance of a shard's stream behind the stream of
   * the most advanced shard. The position of the merged stream waits for the shard with the highest
   * value. Tag: {@code shard}.
   */
  BEHIND("onehop.stream.behind"),
  /**
   * Gauge, in seconds: the time for which events of other shards have been waiting for this shard
   * without interruption. It is 0 if no event waits for the shard. Tag: {@code shard}.
   */
  AWAITED("onehop.stream.awaited"),
  /**
   * Gauge, in seconds: the time for which the stream's position has not moved although the cluster
   * time has advanced. It is 0 while the position moves. {@link StreamListener#stalled} reports the
   * cause.
   */
  STALLED("onehop.stream.stalled"),
  /**
   * Gauge, in whole seconds: the distance of the stream's position from the oldest entry of a
   * shard's oplog. The oldest entry is read every ten seconds. When the gauge reaches 0, events are
   * lost. The user needs {@code find} on {@code local.oplog.rs}; without this right the gauge does
   * not exist. Tag: {@code shard}.
   */
  OPLOG_LEFT("onehop.stream.oplog.left"),
  /**
   * Timer: the reads of the placement (the shards and the owners of the ranges) from the config
   * servers, without the first read. Tag: {@code outcome} ({@code ok} or {@code failed}).
   */
  PLACEMENTS("onehop.stream.placements"),
  /** Counter: the number of times that events of a shard were lost. Tag: {@code shard}. */
  HISTORY_LOST("onehop.stream.history.lost"),
  /** Counter: events that were too large for the server to send. Tag: {@code shard}. */
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
