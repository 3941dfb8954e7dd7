package dev.onehop.testbed;

import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.cluster.Server.Role;
import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.Shard;
import dev.onehop.testbed.topology.Topology;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/** The servers of a topology, with their addresses. */
record ClusterPlan(List<Server> config, List<List<Server>> shards, List<Server> routers) {
  /** The name of the config servers' replica set. */
  static final String CONFIG_SET = "config-servers";

  /**
   * The number to add to a server's advertised port if the server is behind a link. The sum is the
   * port at which the server listens. The number is negative, because Linux takes the ports of
   * outgoing connections from the range above 32768.
   */
  private static final int HIDDEN_PORT_OFFSET = -10_000;

  /**
   * @param routers whether the cluster has routers
   * @param realMongos whether routers are mongos binaries. A mongos registers in the cluster under
   *     the port at which it listens, so it must listen at the advertised port
   */
  static ClusterPlan of(Topology topology, boolean routers, boolean realMongos) {
    List<Server> config = new ArrayList<>();
    for (Host host : topology.configServers()) {
      config.add(server(topology, Role.CONFIG, CONFIG_SET, host, Topology.CONFIG_PORT));
    }
    List<List<Server>> shards = new ArrayList<>();
    for (Shard shard : topology.shards()) {
      List<Server> members = new ArrayList<>();
      for (Host host : shard.hosts()) {
        members.add(server(topology, Role.SHARD, shard.name(), host, shard.port()));
      }
      shards.add(members);
    }
    List<Server> mongoses = new ArrayList<>();
    if (routers) {
      for (Host host : topology.mongosHosts()) {
        mongoses.add(
            realMongos
                ? mongos(topology, host)
                : server(topology, Role.ROUTER, "", host, Topology.MONGOS_PORT));
      }
    }
    return new ClusterPlan(config, shards, mongoses);
  }

  private static Server server(
      Topology topology, Role role, String replicaSet, Host host, int port) {
    int listenPort = topology.isDistant(host) ? port + HIDDEN_PORT_OFFSET : port;
    String name = (role == Role.ROUTER ? "mongos" : replicaSet) + "/" + host.name();
    return new Server(
        name, role, replicaSet, host, port, new InetSocketAddress(host.address(), listenPort));
  }

  /**
   * Returns a mongos. Even behind a link, it listens at its advertised port, because it reports
   * this port to clients. Only its IP address then differs from the advertised address.
   */
  private static Server mongos(Topology topology, Host host) {
    String address = host.address();
    if (topology.isDistant(host)) {
      String[] bytes = address.split("\\.", -1);
      int second = (Integer.parseInt(bytes[1]) + 128) % 256;
      address = "127." + second + "." + bytes[2] + "." + bytes[3];
    }
    return new Server(
        "mongos/" + host.name(),
        Role.ROUTER,
        "",
        host,
        Topology.MONGOS_PORT,
        new InetSocketAddress(address, Topology.MONGOS_PORT));
  }

  /**
   * Returns the same cluster with other listening addresses, but the same advertised addresses.
   *
   * @param moved returns a server with its new listening address
   */
  ClusterPlan listeningAt(UnaryOperator<Server> moved) {
    return new ClusterPlan(
        config.stream().map(moved).toList(),
        shards.stream().map(members -> members.stream().map(moved).toList()).toList(),
        routers.stream().map(moved).toList());
  }

  /** The config servers' replica set in the format of a router's options. */
  String configDb() {
    return CONFIG_SET
        + "/"
        + config.stream().map(Server::advertised).collect(Collectors.joining(","));
  }

  /** Config servers and shard members. */
  List<Server> mongods() {
    List<Server> mongods = new ArrayList<>(config);
    shards.forEach(mongods::addAll);
    return mongods;
  }

  /** Every server. */
  List<Server> all() {
    List<Server> all = mongods();
    all.addAll(routers);
    return all;
  }
}
