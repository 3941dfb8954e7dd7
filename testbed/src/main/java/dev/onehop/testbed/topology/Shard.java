package dev.onehop.testbed.topology;

import java.util.List;

/**
 * A shard: one replica set with a member on each of its hosts.
 *
 * @param name the shard's id and its replica set's name
 * @param hosts the hosts of its members, the preferred primary first; at least one
 * @param port the port of its members: 27018, or a higher port if several shards share a host
 */
public record Shard(String name, List<Host> hosts, int port) {
  public Shard {
    hosts = List.copyOf(hosts);
  }

  @Override
  public String toString() {
    return name;
  }
}
