package dev.onehop.testbed;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.model.AccessMode;
import com.github.dockerjava.api.model.Bind;
import com.github.dockerjava.api.model.Volume;
import dev.onehop.testbed.ServerInfo.RouterKind;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.docker.Engine;
import dev.onehop.testbed.internal.docker.Image;
import dev.onehop.testbed.internal.docker.ServerContainer;
import dev.onehop.testbed.internal.docker.Subnets;
import dev.onehop.testbed.internal.link.Callers;
import dev.onehop.testbed.internal.link.ConnectionEnd;
import dev.onehop.testbed.internal.process.Ports;
import dev.onehop.testbed.internal.process.RunningServer;
import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.Topology;
import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs every server in a container, and every host as a network of containers. A host's address is
 * the address of its network's gateway, which belongs to this machine. Links listen at this
 * address, for containers and for local clients, and forward to the containers' addresses. In each
 * container, the name of the machine is the host's address, because a mongos registers under the
 * machine's name.
 */
final class ContainerPlatform implements Platform {
  private final DockerClient docker;
  private final Image image;
  private final Subnets subnets;
  private final Topology topology;
  private final ClusterPlan plan;
  private final Map<String, Integer> subnetByHost;
  private final Versions versions;

  private ContainerPlatform(
      DockerClient docker,
      Image image,
      Subnets subnets,
      Testbed.Builder options,
      Map<String, Integer> subnetByHost) {
    this.docker = docker;
    this.image = image;
    this.subnets = subnets;
    this.subnetByHost = subnetByHost;
    this.topology = options.topology.at(host -> subnets.gateway(subnetOf(host)));
    Map<String, Integer> containers = new HashMap<>();
    this.plan =
        ClusterPlan.of(topology, options.routers, false)
            .listeningAt(
                server -> {
                  int number = containers.merge(server.host().name(), 1, Integer::sum) - 1;
                  String address = subnets.container(subnetOf(server.host()), number);
                  return server.listeningAt(new InetSocketAddress(address, server.port()));
                });
    this.versions =
        new Versions(
            image.mongod(),
            !options.routers
                ? RouterKind.NONE
                : image.mongos() == null ? RouterKind.STAND_IN : RouterKind.MONGOS,
            image.mongos());
  }

  /**
   * Gets the image and creates the networks.
   *
   * @param standIns whether stand-in routers are allowed if the image has no mongos
   * @throws TestbedException if the engine, the image, a mongos or a network is missing
   */
  static ContainerPlatform prepare(Testbed.Builder options, String imageName, boolean standIns) {
    DockerClient docker = Engine.client();
    Image image = Image.inspect(docker, imageName);
    if (options.routers) {
      image.requireRouters(standIns);
    }
    options.progress.accept(
        "mongod %s and %s from image %s"
            .formatted(
                image.mongod(),
                image.mongos() == null ? "stand-in routers" : "mongos " + image.mongos(),
                imageName));
    Map<String, Integer> subnetByHost = new LinkedHashMap<>();
    options.topology.hosts().forEach(host -> subnetByHost.put(host.name(), subnetByHost.size()));
    Subnets subnets = Subnets.create(docker, subnetByHost.size());
    try {
      ContainerPlatform platform =
          new ContainerPlatform(docker, image, subnets, options, subnetByHost);
      requireOnThisMachine(subnets.gateway(0));
      platform.plan.all().forEach(server -> Ports.requireFree(server.advertisedAddress()));
      return platform;
    } catch (RuntimeException e) {
      subnets.close();
      throw e;
    }
  }

  /**
   * Refuses networks that this machine cannot reach: an engine in a virtual machine, as on macOS,
   * has its networks inside that machine.
   */
  private static void requireOnThisMachine(String gateway) {
    try {
      if (NetworkInterface.getByInetAddress(new InetSocketAddress(gateway, 0).getAddress())
          != null) {
        return;
      }
    } catch (SocketException e) {
      // If the interfaces can't be read, the gateway counts as an address of another machine.
    }
    throw new TestbedException(
        "this machine does not have Docker's networks, because the engine runs in a virtual"
            + " machine, or this JVM runs in a container; run the tests on Linux, on the same"
            + " machine as the engine");
  }

  private int subnetOf(Host host) {
    return subnetByHost.getOrDefault(host.name(), -1);
  }

  @Override
  public Topology topology() {
    return topology;
  }

  @Override
  public ClusterPlan plan() {
    return plan;
  }

  @Override
  public Versions versions() {
    return versions;
  }

  @Override
  public Map<InetAddress, ConnectionEnd> peers() {
    Map<InetAddress, ConnectionEnd> peers = new HashMap<>();
    plan.all().forEach(server -> peers.put(server.listenAddress().getAddress(), server.peer()));
    return peers;
  }

  @Override
  public RunningServer launch(Server server, Callers callers) {
    boolean standIn = server.role() == Server.Role.ROUTER && versions.isStandIn();
    return ServerContainer.start(
        docker,
        server.name(),
        image,
        command(server, standIn),
        new ServerContainer.Place(
            subnets.network(subnetOf(server.host())),
            server.host().address(),
            server.listenAddress().getAddress().getHostAddress(),
            standIn ? classPathMounts() : List.of()));
  }

  private List<String> command(Server server, boolean standIn) {
    if (standIn) {
      return ServerCommandLines.standInRouter(
          server,
          ServerCommandLines.QUICK_COMPILER,
          "java",
          System.getProperty("java.class.path"),
          topology.name(),
          "0.0.0.0",
          plan.configDb(),
          "");
    }
    List<String> command = new ArrayList<>();
    if (server.role() == Server.Role.ROUTER) {
      command.addAll(List.of("mongos", "--configdb", plan.configDb()));
    } else {
      command.add("mongod");
      command.addAll(ServerCommandLines.mongodOptions(server));
      command.addAll(List.of("--dbpath", "/data/db"));
    }
    command.addAll(List.of("--bind_ip_all", "--port", String.valueOf(server.port())));
    return command;
  }

  /** Mounts the class path of this JVM at the same paths in the container. */
  private static List<Bind> classPathMounts() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
        .filter(entry -> !entry.isEmpty() && Files.exists(Path.of(entry)))
        .map(entry -> Path.of(entry).toAbsolutePath().toString())
        .distinct()
        .map(path -> new Bind(path, new Volume(path), AccessMode.ro))
        .toList();
  }

  @Override
  public void started(String url) {
    // Nothing to record: containers stop with this process, and no other process can use them.
  }

  @Override
  public void close() {
    subnets.close();
  }
}
