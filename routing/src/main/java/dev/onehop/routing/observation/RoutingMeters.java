package dev.onehop.routing.observation;

/**
 * The Micrometer meters of a router, by name. The router measures in the application's process.
 * Only the servers' own metrics show the time that a server takes.
 */
public enum RoutingMeters {
  /**
   * Timer: commands that read or write documents, from their arrival at the router in this process
   * to the router's reply, including the router's retries. The time of a read ends with its first
   * batch. Each part of a split write counts as one command. In direct mode all commands count, not
   * only reads and writes. Tags:
   *
   * <ul>
   *   <li>{@code operation}: the command, such as {@code update}
   *   <li>{@code mode}: {@code targeted} or {@code direct}
   *   <li>{@code decision}: {@link RouteDecision#tag()}
   *   <li>{@code shard}: the owner's id; {@code none} if there is no single owner
   *   <li>{@code server}: the server that has replied, as {@code host:port}; {@code none} if
   *       several servers have replied
   *   <li>{@code outcome}: {@code ok}, {@code failed} or {@code cancelled}
   * </ul>
   */
  OPERATIONS("onehop.operations"),
  /**
   * Counter: commands on one shard that went to a mongos that is not near this shard. Tags: {@code
   * shard}, {@code reason} ({@code no-router-beside}, {@code not-known-yet} or {@code
   * router-down}). In direct mode it counts all commands that were sent to a mongos, with {@code
   * none} as {@code shard} and {@code handed-over} as {@code reason}.
   */
  FALLBACKS("onehop.fallbacks"),
  /**
   * Counter: refusals of direct mode's commands by a shard because the routing table was stale.
   * After a refusal, the command is routed again by a newer table. Tag: {@code namespace}.
   */
  STALE_RETRIES("onehop.stale.retries"),
  /**
   * Timer: refreshes of routing tables, from the first read of metadata to the use of the new
   * table. Tags: {@code namespace}, {@code outcome} ({@code ok} or {@code failed}).
   */
  REFRESHES("onehop.table.refreshes"),
  /** Gauge: chunks in a collection's routing table. Tag: {@code namespace}. */
  TABLE_CHUNKS("onehop.table.chunks"),
  /**
   * Gauge, in seconds: the time since a collection's routing table was last confirmed as the
   * newest. Tag: {@code namespace}.
   */
  TABLE_AGE("onehop.table.age"),
  /** Gauge: shards with a mongos near them; not in direct mode. */
  SHARDS_WITH_ROUTER("onehop.affinity.shards"),
  /**
   * Gauge: mongoses that a shard's operations go to first. Tags: {@code shard}, {@code source}
   * ({@code mapped}, {@code same-host}, {@code measured}, {@code shortest-way} or {@code none}: the
   * reason of the choice).
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
