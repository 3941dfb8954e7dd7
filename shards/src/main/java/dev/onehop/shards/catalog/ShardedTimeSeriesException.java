package dev.onehop.shards.catalog;

/**
 * The namespace is a view on the buckets of a time series, and the buckets are sharded. A command
 * must be rewritten for the buckets, as mongos does; a shard would treat the view as unsharded.
 */
public final class ShardedTimeSeriesException extends ViewException {
  private static final long serialVersionUID = 1L;

  ShardedTimeSeriesException(String namespace) {
    super(namespace, "a sharded time series collection");
  }
}
