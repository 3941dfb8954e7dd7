package dev.onehop.streams.event;

/** The servers from which events are read. */
public enum Source {
  /** Each shard; the replica set if the cluster is not sharded. */
  SHARDS,

  /** The seeds, as in the driver: mongoses, which merge the shards' streams. */
  MONGOS
}
