package dev.onehop.measure.results;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The topology of a run, with the configured and the measured round trips.
 *
 * @param name the name of the topology
 * @param client the host of the client
 * @param regions the names of the regions
 * @param rttMillis the round trips in milliseconds
 * @param hosts every host with its servers
 */
public record TopologyFacts(
    String name, String client, List<String> regions, RoundTrips rttMillis, List<HostFacts> hosts) {

  /** Replaces missing round trips by empty maps, because older or hand-made files have none. */
  public TopologyFacts {
    rttMillis = rttMillis == null ? new RoundTrips(Map.of(), Map.of()) : rttMillis;
  }

  /**
   * Round trips in milliseconds. The key of a pair of hosts is {@code from-to}.
   *
   * @param configured the configured round trips between every two hosts
   * @param measured the measured round trips from the client's host to each other host: each is the
   *     median of a series of pings on an idle connection. Several series are measured, and the
   *     lowest median counts
   */
  public record RoundTrips(Map<String, Double> configured, Map<String, Double> measured) {}

  /**
   * One host.
   *
   * @param name the host's name
   * @param region the region of the host
   * @param roles the programs on the host: {@code client}, {@code config}, {@code router}, {@code
   *     shard X}
   */
  public record HostFacts(String name, String region, List<String> roles) {}

  /** Creates the facts of servers on this machine, without links and round trips. */
  public static TopologyFacts here(String name, List<HostFacts> hosts) {
    RoundTrips none = new RoundTrips(Map.of(), Map.of());
    return new TopologyFacts(name, "here", List.of("here"), none, hosts);
  }

  /** Whether a router runs on the client's host. */
  public boolean hasRouterAtClient() {
    return hosts.stream()
        .anyMatch(host -> host.name().equals(client) && host.roles().contains("router"));
  }

  /** Returns the key of a pair of hosts in {@link RoundTrips}. */
  public static String pair(String from, String to) {
    return from + "-" + to;
  }

  /**
   * Returns the configured round trip between two hosts, in milliseconds; null if unknown. The file
   * contains each pair of hosts in one of its two orders, so both orders are looked up.
   */
  public @Nullable Double configured(String from, String to) {
    Double there = rttMillis.configured().get(pair(from, to));
    return there != null ? there : rttMillis.configured().get(pair(to, from));
  }

  /**
   * Returns the measured round trip from the client's host, in milliseconds; null if it was not
   * measured.
   */
  public @Nullable Double measuredFromClient(String host) {
    return rttMillis.measured().get(pair(client, host));
  }
}
