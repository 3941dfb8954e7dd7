package dev.onehop.it;

import dev.onehop.testbed.Topology;

/**
 * Three shards {@code one}, {@code two} and {@code three} of one server each, next to each other.
 */
final class ThreeShards {
  private ThreeShards() {}

  /**
   * The topology.
   *
   * @param network the second number of its addresses, another one for each name
   */
  static Topology topology(String name, int network) {
    return Topology.parse(
        name + ".yaml",
        """
        name: %1$s
        regions: [here]
        hosts:
          c: {region: here, address: 127.%2$d.0.1}
          s1: {region: here, address: 127.%2$d.0.2}
          s2: {region: here, address: 127.%2$d.0.3}
          s3: {region: here, address: 127.%2$d.0.4}
        roundTrips:
          here <-> here: 0.4
        client: c
        configServers: [c]
        shards:
          one: [s1]
          two: [s2]
          three: [s3]
        mongos: [c]
        """
            .formatted(name, network));
  }
}
