package dev.onehop.routing;

/**
 * A setting that needs no code. It is an option of the URI ({@code
 * mongodb://host/?onehop.refreshInterval=5s}), a property of {@link OneHop.Builder#properties} or a
 * system property, each named {@link #key()}. The order of precedence is: a call of the builder,
 * the URI, the properties, the system property.
 *
 * <p>Durations are written {@code 500ms}, {@code 10s}, {@code 2m} or in ISO 8601 ({@code PT10S}).
 */
public enum OneHopProperty {
  /**
   * {@code true} by default. {@code false} turns OneHop off in every mode: clients then use the
   * driver's own transport, so the URI MUST name mongoses.
   */
  ENABLED("onehop.enabled"),
  /** {@link OneHop.Builder#refreshInterval}: a duration above zero; 10s by default. */
  REFRESH_INTERVAL("onehop.refreshInterval"),
  /**
   * {@link OneHop.Builder#historyInterval}: a duration, 0s for never; 2s by default. Not in direct
   * mode.
   */
  HISTORY_INTERVAL("onehop.historyInterval"),
  /**
   * {@link OneHop.Builder#measureRoundTrips}: {@code true} (the default) or {@code false}. Not in
   * direct mode.
   */
  MEASURE_ROUND_TRIPS("onehop.measureRoundTrips"),
  /**
   * {@link OneHop.Builder#shardRouters}: shards and their mongoses, as {@code
   * shard1=host:port|host:port,shard2=host:port}; none by default. Not in direct mode.
   */
  SHARD_ROUTERS("onehop.shardRouters"),
  /**
   * {@link OneHop.Builder#hostMapping}: names in the cluster's metadata and the names to use
   * instead, as {@code from=to,from=to}. The two names of a pair are both {@code host:port}, or
   * both {@code host} for any port. None by default.
   */
  HOST_MAPPING("onehop.hostMapping"),
  /**
   * {@link OneHop.Builder#preferredZones}: zones in the order of preference, each with its hosts,
   * as {@code a=host1|host2,b=host3:27017}. The names of zones may be left out. {@code *} in a host
   * stands for any characters, as in {@code 10.0.1.*|*.use1-az1.internal,10.0.2.*}. None by
   * default.
   */
  PREFERRED_ZONES("onehop.preferredZones");

  private final String key;

  OneHopProperty(String key) {
    this.key = key;
  }

  /** The name of the property. */
  public String key() {
    return key;
  }
}
