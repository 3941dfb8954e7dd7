package dev.onehop.routing;

/** Where a router sends an operation that one shard owns. */
public enum RoutingMode {
  /** To the mongos beside the owning shard. What MongoDB supports, and safe whatever happens. */
  TARGETED,
  /**
   * To the owning shard's own mongod, with a versioned command that the shard refuses if its
   * ownership has changed. Saves the mongos' hop; MongoDB does not support this kind of traffic.
   */
  DIRECT
}
