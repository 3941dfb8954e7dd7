package dev.onehop.routing.observation;

/**
 * The Micrometer meters of a router, by name. They are what the router knows; what the servers saw,
 * only they can tell.
 */
public enum RoutingMeters {
  /**
   * Timer: commands that read or write documents, from their arrival at the router in this process
   * to its answer, with the retries of the router between; a read ends with its first batch. A
   * write counts once for each part that goes its own way. In direct mode all commands count. Tags:
   *
   * <ul>
   *   <li>{@code operation}: the command, such as {@code update}
   *   <li>{@code mode}: {@code targeted} or {@code direct}
   *   <li>{@code decision}: {@link RouteDecision#tag()}
   *   <li>{@code shard}: the owner's id, {@code none} where there is not one
   *   <li>{@code server}: the very server that has answered, as {@code host:port}; {@code none} if
   *       it was several
   *   <li>{@code outcome}: {@code ok}, {@code failed} or {@code cancelled}
   * </ul>
   */
  OPERATIONS("onehop.operations"),
  /**
   * Counter: commands on one shard that went to another mongos than the ones beside it. Tags:
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
