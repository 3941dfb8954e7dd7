package dev.onehop.streams.event;

/** The servers from which events are read. */
public enum Source {
  /** Each shard directly, or the replica set if the cluster is not sharded. */
  SHARDS,

  /**
   * The mongoses of the connection string, which merge the shards' streams, as with the driver
   * alone.
   */
  MONGOS
}
