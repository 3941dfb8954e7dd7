package dev.onehop.streams.event;

import org.bson.BsonTimestamp;

/**
 * A shard no longer has the next events of the stream, because its oplog has overwritten them or
 * because the shard was removed.
 */
public final class HistoryLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String shard;
  private final long from;
  private final long to;

  /**
   * @param shard the shard's id
   * @param from the cluster time up to which the shard's events were emitted
   * @param to the oldest cluster time from which the shard has events now, or the time of the
   *     shard's removal
   */
  public HistoryLostException(String shard, BsonTimestamp from, BsonTimestamp to) {
    super(
        "shard %s no longer has its events after %s; its oldest event is of %s"
            .formatted(shard, from, to));
    this.shard = shard;
    this.from = from.getValue();
    this.to = to.getValue();
  }

  /** The shard's id. */
  public String shard() {
    return shard;
  }

  /** The cluster time up to which the shard's events were emitted. */
  public BsonTimestamp from() {
    return new BsonTimestamp(from);
  }

  /**
   * The oldest cluster time from which the shard has events now, or the time of the shard's
   * removal.
   */
  public BsonTimestamp to() {
    return new BsonTimestamp(to);
  }
}
