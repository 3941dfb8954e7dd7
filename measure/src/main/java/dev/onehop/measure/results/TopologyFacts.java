package dev.onehop.measure.results;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The topology of a run, with the configured and the measured round trips.
 *
 * @param name the topology's name
 * @param client the host of the client
 * @param regions the regions' names
 * @param rttMillis round trips in milliseconds
 * @param hosts every host with its servers
 */
public record TopologyFacts(
    String name, String client, List<String> regions, RoundTrips rttMillis, List<HostFacts> hosts) {

  /** The round trips are missing in older or hand-made files. */
  public TopologyFacts {
    rttMillis = rttMillis == null ? new RoundTrips(Map.of(), Map.of()) : rttMillis;
  }

  /**
   * Round trips in milliseconds, keyed {@code from-to}.
   *
   * @param configured between every two hosts
   * @param measured the median of idle pings from the client's host to each other host, the
   *     shortest of several series
   */
  public record RoundTrips(Map<String, Double> configured, Map<String, Double> measured) {}

  /**
   * One host.
   *
   * @param name the host's name
   * @param region its region
   * @param roles the programs on it: {@code client}, {@code config}, {@code router}, {@code shard
   *     X}
   */
  public record HostFacts(String name, String region, List<String> roles) {}

  /** Servers on this machine only, without links to measure. */
  public static TopologyFacts here(String name, List<HostFacts> hosts) {
    RoundTrips none = new RoundTrips(Map.of(), Map.of());
    return new TopologyFacts(name, "here", List.of("here"), none, hosts);
  }

  /** The key of a pair of hosts in {@link RoundTrips}. */
  public static String pair(String from, String to) {
    return from + "-" + to;
  }

  /** The configured round trip between two hosts, listed in either order; null if unknown. */
  public @Nullable Double configured(String from, String to) {
    Double there = rttMillis.configured().get(pair(from, to));
    return there != null ? there : rttMillis.configured().get(pair(to, from));
  }

  /** The measured round trip from the client's host; null if it was not measured. */
  public @Nullable Double measuredFromClient(String host) {
    return rttMillis.measured().get(pair(client, host));
  }
}
