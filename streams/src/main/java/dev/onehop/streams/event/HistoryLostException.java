package dev.onehop.streams.event;

import org.bson.BsonTimestamp;

/** A shard no longer has the events from where the stream has to go on: its oplog rolled over. */
public final class HistoryLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String shard;
  private final long from;
  private final long to;

  /**
   * @param shard the shard's id
   * @param from the last cluster time up to which its events were given
   * @param to the oldest cluster time from which it has events now
   */
  public HistoryLostException(String shard, BsonTimestamp from, BsonTimestamp to) {
    super(
        "shard "
            + shard
            + " no longer has its events after "
            + from
            + "; the oldest that it has are of "
            + to);
    this.shard = shard;
    this.from = from.getValue();
    this.to = to.getValue();
  }

  /** The shard's id. */
  public String shard() {
    return shard;
  }

  /** The last cluster time up to which the shard's events were given. */
  public BsonTimestamp from() {
    return new BsonTimestamp(from);
  }

  /** The oldest cluster time from which the shard has events now. */
  public BsonTimestamp to() {
    return new BsonTimestamp(to);
  }
}
