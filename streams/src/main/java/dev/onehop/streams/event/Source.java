package dev.onehop.streams.event;

/** Where the events are read. */
public enum Source {
  /** From each shard itself; from the replica set where there are no shards. */
  SHARDS,

  /** From the seeds, as the driver does: mongoses, which merge the shards' streams themselves. */
  MONGOS
}
