package dev.onehop.routing;

/** The Micrometer meters of a routed client, by name. */
public enum RoutingMeters {
  /**
   * Counter: operations by where they were sent. Tags: {@code operation} (the method of the
   * collection, such as {@code updateOne}), {@code decision} ({@link RouteDecision#tag()}), {@code
   * shard} (the owner's id, {@code none} where there is not one).
   */
  OPERATIONS("onehop.operations"),
  /**
   * Timer: refreshes of routing tables, from the first read to the swap. Tags: {@code namespace},
   * {@code outcome} ({@code ok} or {@code failed}).
   */
  REFRESHES("onehop.table.refreshes"),
  /** Gauge: chunks in a collection's routing table. Tag: {@code namespace}. */
  TABLE_CHUNKS("onehop.table.chunks"),
  /** Gauge: shards that have a mongos beside them. */
  SHARDS_WITH_ROUTER("onehop.affinity.shards");

  private final String meterName;

  RoutingMeters(String meterName) {
    this.meterName = meterName;
  }

  /** The name under which the meter is registered. */
  public String meterName() {
    return meterName;
  }
}
