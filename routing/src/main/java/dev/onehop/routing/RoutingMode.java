package dev.onehop.routing;

/** The server to which a router sends an operation that one shard owns. */
public enum RoutingMode {
  /**
   * The mongos near the owning shard. Supported by MongoDB; a stale routing table never causes
   * wrong results.
   */
  TARGETED,
  /**
   * The owning shard's own mongod. The command carries a version, and the shard refuses it if the
   * ownership has changed. Saves the hop over the mongos; MongoDB does not support this kind of
   * traffic.
   */
  DIRECT,
  /**
   * The server that the official client would choose: the nearest mongos, or the member of a
   * replica set that fits the read preference. No routing table is read. For clients that only need
   * pipelining.
   */
  NONE
}
