package dev.onehop.routing;

/**
 * The Micrometer meters of a routed client, by name. They are what the client knows; what the
 * servers saw, only they can tell.
 */
public enum RoutingMeters {
  /**
   * Timer: operations from subscription to their end; a read's end is when its last document was
   * taken. A bulk write counts once for each part that goes its own way. Tags:
   *
   * <ul>
   *   <li>{@code operation}: the method of the collection, such as {@code updateOne}
   *   <li>{@code mode}: {@code targeted} or {@code direct}
   *   <li>{@code decision}: {@link RouteDecision#tag()}
   *   <li>{@code shard}: the owner's id, {@code none} where there is not one
   *   <li>{@code server}: the mongos, as {@code host:port}. It is the one that the route's client
   *       selected last: in the moment of a failover, or where several stand beside one shard, an
   *       ESTIMATE. A {@link RoutingObservationContext} has the very one.
   *   <li>{@code outcome}: {@code ok}, {@code failed} or {@code cancelled}
   * </ul>
   *
   * <p>In direct mode it is commands that are measured, from their arrival at the router in this
   * process to its answer, with the stale retries between: {@code operation} is the command, such
   * as {@code update}, a read ends with its first batch, and {@code server} is the very server that
   * has answered, {@code none} if it was several.
   */
  OPERATIONS("onehop.operations"),
  /**
   * Counter: operations on one shard that went to another mongos than the ones beside it. Tags:
   * {@code shard}, {@code reason} ({@code no-router-beside} or {@code router-down}). In direct mode
   * commands that were handed to a mongos: {@code shard} is {@code none}, {@code reason} is {@code
   * handed-over}.
   */
  FALLBACKS("onehop.fallbacks"),
  /**
   * Counter: how often a shard refused a command of direct mode because the routing table was
   * stale, so that it was decided again under a newer one. Tag: {@code namespace}.
   */
  STALE_RETRIES("onehop.stale.retries"),
  /**
   * Timer: refreshes of routing tables, from the first read to the swap. Tags: {@code namespace},
   * {@code outcome} ({@code ok} or {@code failed}).
   */
  REFRESHES("onehop.table.refreshes"),
  /** Gauge: chunks in a collection's routing table. Tag: {@code namespace}. */
  TABLE_CHUNKS("onehop.table.chunks"),
  /**
   * Gauge, in seconds: how long ago a collection's routing table was last found to be the newest.
   * Tag: {@code namespace}.
   */
  TABLE_AGE("onehop.table.age"),
  /** Gauge: shards that have a mongos beside them; not in direct mode. */
  SHARDS_WITH_ROUTER("onehop.affinity.shards"),
  /**
   * Gauge: mongoses that a shard's operations go to first. Tags: {@code shard}, {@code source}
   * ({@code mapped}, {@code same-host}, {@code measured}, {@code shortest-way} or {@code none}:
   * what they were chosen by).
   */
  SHARD_ROUTERS("onehop.affinity.routers");

  private final String meterName;

  RoutingMeters(String meterName) {
    this.meterName = meterName;
  }

  /** The name under which the meter is registered. */
  public String meterName() {
    return meterName;
  }
}
