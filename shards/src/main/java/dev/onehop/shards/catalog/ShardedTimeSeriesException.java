package dev.onehop.shards.catalog;

/**
 * The namespace is a view of the buckets of a time series that are sharded in its stead. A command
 * on it must be rewritten for these, as mongos does; to a shard it would look unsharded.
 */
public final class ShardedTimeSeriesException extends ViewException {
  private static final long serialVersionUID = 1L;

  ShardedTimeSeriesException(String namespace) {
    super(namespace, "a sharded time series collection");
  }
}
