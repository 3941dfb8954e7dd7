package dev.onehop.routing.observation;

import java.util.Locale;

/**
 * The routing decision for one operation. Its {@link #tag()} is the value of the {@code decision}
 * tag of the meter {@link RoutingMeters#OPERATIONS}.
 */
public enum RouteDecision {
  /**
   * One shard owns all data that the operation touches. The operation is sent to the mongos near
   * this shard, in direct mode to the shard itself.
   */
  OWNER,
  /**
   * One shard owns the data, but no usable mongos is near the shard. The operation is sent to the
   * mongos on the shortest path, or to the nearest mongos.
   */
  NO_ROUTER_BESIDE,
  /**
   * One shard owns the data, but the mongoses near the shard are not known yet. The operation is
   * sent to the nearest mongos.
   */
  NOT_KNOWN_YET,
  /**
   * Several shards own the data, or the filter does not determine the shard. The operation is sent
   * to the nearest mongos. In direct mode, this decision is for a batch of writes that was split by
   * owner.
   */
  SEVERAL_SHARDS,
  /**
   * No routing table is loaded, or the cluster is not sharded. The operation is sent to the nearest
   * mongos. In direct mode, this decision is for a command that was sent to no server.
   */
  NO_TABLE,
  /**
   * Any member may serve the read, and the application prefers zones. The read is sent to a mongos
   * of the first preferred zone that has a live mongos. Direct mode does not use this decision: it
   * sends such a read to the owning shard's member in the zone, as {@link #OWNER}.
   */
  PREFERRED_ZONE,
  /**
   * The operation is not the first of its transaction. It is sent to the mongos of the transaction.
   */
  TRANSACTION,
  /**
   * Only in direct mode: the command is sent to a mongos of the URI, because direct mode does not
   * execute it.
   */
  HANDED_OVER;

  private final String tag = name().toLowerCase(Locale.ROOT).replace('_', '-');

  /**
   * The decision in lower case with dashes, such as {@code no-router-beside}; the value of the tag.
   */
  public String tag() {
    return tag;
  }
}
