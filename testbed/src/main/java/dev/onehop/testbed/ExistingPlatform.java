package dev.onehop.testbed;

import dev.onehop.testbed.ExistingServers.Login;
import dev.onehop.testbed.ServerInfo.RouterKind;
import dev.onehop.testbed.internal.cluster.Admin;
import dev.onehop.testbed.internal.cluster.Credentials;
import dev.onehop.testbed.internal.cluster.ReplicaSet;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.cluster.Users;
import dev.onehop.testbed.internal.link.Callers;
import dev.onehop.testbed.internal.link.ConnectionEnd;
import dev.onehop.testbed.internal.process.RunningServer;
import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.Topology;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;

/** Uses servers that others have started, without links. Each host is reachable by its name. */
final class ExistingPlatform implements Platform {
  /** The database that the application's user may write to. */
  private static final String DATABASE = "ycsb";

  private final ExistingServers servers;
  private final Topology topology;
  private final ClusterPlan plan;
  private @Nullable Versions versions;

  private ExistingPlatform(Testbed.Builder options, ExistingServers servers) {
    this.servers = servers;
    this.topology = options.topology.at(Host::name);
    this.plan =
        ClusterPlan.of(topology, options.routers, false).listeningAt(ExistingPlatform::byName);
  }

  static ExistingPlatform prepare(Testbed.Builder options, ExistingServers servers) {
    for (Host host : options.topology.hosts()) {
      if (new InetSocketAddress(host.name(), 0).isUnresolved()) {
        throw new TestbedException(
            "host %s cannot be resolved; run this command in the client container of docker/compose.yaml: docker compose exec client onehop ..."
                .formatted(host));
      }
    }
    return new ExistingPlatform(options, servers);
  }

  private static Server byName(Server server) {
    return server.listeningAt(server.advertisedAddress());
  }

  /**
   * Finds the kind of router: a stand-in router identifies itself in its reply to hello, which
   * needs no login.
   */
  private RouterKind routerKind() {
    if (plan.routers().isEmpty()) {
      return RouterKind.NONE;
    }
    Server first = plan.routers().get(0);
    // A router listens only after it has found the config servers.
    TestbedStarter.awaitListening(first, launch(first));
    try (Admin router = Admin.of(first, new Credentials(null, servers.toMongods().tls()))) {
      BsonDocument hello = router.run("admin", new BsonDocument("hello", new BsonInt32(1)));
      return hello.containsKey("onehopStandIn") ? RouterKind.STAND_IN : RouterKind.MONGOS;
    }
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
  public synchronized Versions versions() {
    if (versions == null) {
      versions = new Versions(null, routerKind(), null);
    }
    return versions;
  }

  @Override
  public Map<InetAddress, ConnectionEnd> peers() {
    return Map.of();
  }

  @Override
  public Credentials access() {
    return servers.toMongods();
  }

  @Override
  public Credentials routerAccess() {
    return servers.toMongoses();
  }

  @Override
  public void initiated(ReplicaSet configServers) {
    @Nullable Login login = servers.login();
    if (login != null) {
      Users users = new Users(configServers);
      users.administrator(ExistingServers.ADMINISTRATOR, login.administrator());
      users.application(ExistingServers.APPLICATION, login.application(), DATABASE);
    }
  }

  @Override
  public RunningServer launch(Server server, Callers callers) {
    return launch(server);
  }

  private static RunningServer launch(Server server) {
    return new Existing(server.name());
  }

  @Override
  public void started(String url) {
    // Nothing to record: the servers belong to others.
  }

  @Override
  public void close() {
    // Nothing to release: the platform has taken no resources.
  }

  /** A server that this process neither starts nor ends. */
  private record Existing(String name) implements RunningServer {
    @Override
    public boolean isAlive() {
      return true;
    }

    @Override
    public ProcessFailure failure() {
      return new ProcessFailure(name, -1, List.of());
    }

    @Override
    public List<String> lastLogLines() {
      return List.of();
    }

    @Override
    public String output() {
      return "";
    }

    @Override
    public void onDeath(Consumer<ProcessFailure> listener) {
      // The listener is not called, because this process does not detect the end of the server.
      // After the end, operations on the server fail.
    }

    @Override
    public void kill() {
      // Nothing to end: the server belongs to others.
    }

    @Override
    public void awaitEnd() {
      // Nothing to end: the server belongs to others.
    }
  }
}
