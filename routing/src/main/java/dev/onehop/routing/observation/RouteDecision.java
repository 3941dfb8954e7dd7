package dev.onehop.routing.observation;

import java.util.Locale;

/**
 * What was decided for one operation. Its {@link #tag()} is the value of the {@code decision} tag
 * of the meter {@link RoutingMeters#OPERATIONS}.
 */
public enum RouteDecision {
  /**
   * One shard owns what the operation touches; it goes to the mongos beside it, in direct mode to
   * the shard itself.
   */
  OWNER,
  /** One shard owns it, but no usable mongos stands beside that shard: the nearest mongos. */
  NO_ROUTER_BESIDE,
  /** One shard owns it, but which mongos is beside that is not known yet: the nearest mongos. */
  NOT_KNOWN_YET,
  /**
   * More than one shard is concerned, or the filter does not tell: the nearest mongos. In direct
   * mode a batch of writes that was split by owner.
   */
  SEVERAL_SHARDS,
  /**
   * No routing table is to be had (yet), or this is no sharded cluster: the nearest mongos. In
   * direct mode what neither a shard nor a mongos was asked for.
   */
  NO_TABLE,
  /**
   * A read that any member may serve, where zones are preferred: the mongos of the first preferred
   * zone that lives. Not in direct mode, where such a read goes to the owner's member in that zone.
   */
  PREFERRED_ZONE,
  /** The operation is not the first of its transaction: the mongos of that one. */
  TRANSACTION,
  /** More than one shard has to do with it, in direct mode: a mongos of the URI. */
  HANDED_OVER;

  private final String tag = name().toLowerCase(Locale.ROOT).replace('_', '-');

  /** The decision in lower case with dashes, such as {@code no-router-beside}. */
  public String tag() {
    return tag;
  }
}
