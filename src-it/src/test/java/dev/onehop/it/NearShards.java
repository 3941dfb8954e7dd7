package dev.onehop.it;

import dev.onehop.testbed.topology.Topology;

/** Topologies of shards with one member each and almost no delay between the hosts. */
final class NearShards {
  /**
   * Three shards of one member, with a mongos on each shard's host and one on the application's
   * host.
   */
  static final Topology WITH_MONGOSES =
      Topology.parse(
          "three-shards",
          """
          name: three-shards
          description: three shards on three hosts, each with a mongos, without any delay
          regions: [here]
          roundTrips:
            here <-> here: 0
          hosts:
            app: {region: here, address: 127.36.0.1}
            h1: {region: here, address: 127.36.1.1}
            h2: {region: here, address: 127.36.2.1}
            h3: {region: here, address: 127.36.3.1}
          client: app
          configServers: [app]
          shards:
            shard-1: [h1]
            shard-2: [h2]
            shard-3: [h3]
          mongos: [app, h1, h2, h3]
          """);

  private NearShards() {}

  /**
   * A topology with the shards {@code one} and {@code two}, and perhaps {@code three}. Its only
   * mongos is on the application's host.
   *
   * @param network the second number of its IP addresses, different for each name
   */
  static Topology topology(String name, int network, int shards) {
    boolean third = shards == 3;
    return Topology.parse(
        name + ".yaml",
        """
        name: %1$s
        regions: [here]
        hosts:
          c: {region: here, address: 127.%2$d.0.1}
          s1: {region: here, address: 127.%2$d.0.2}
          s2: {region: here, address: 127.%2$d.0.3}
        %3$s
        roundTrips:
          here <-> here: 0.4
        client: c
        configServers: [c]
        shards:
          one: [s1]
          two: [s2]
        %4$s
        mongos: [c]
        """
            .formatted(
                name,
                network,
                third ? "  s3: {region: here, address: 127.%d.0.4}".formatted(network) : "",
                third ? "  three: [s3]" : ""));
  }
}
