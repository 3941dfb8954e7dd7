package dev.onehop.testbed;

import dev.onehop.testbed.internal.binaries.ServerBinaries;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.process.HostName;
import dev.onehop.testbed.internal.run.RunDirectory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The command lines of a run's servers: made for many of them on a small machine. */
final class Programs {
  private static final String STAND_IN_ROUTER = "dev.onehop.testbed.standin.StandInRouter";
  private static final String CACHE_GB = "0.25"; // The least WiredTiger takes.
  private static final String OPLOG_MB = "256";
  private static final String TEST_COMMANDS = "enableTestCommands";

  /**
   * Halves what a JVM's start costs, and keeps the optimizing compiler from taking the processors
   * from what is being measured: there are several routers.
   */
  static final List<String> QUICK_COMPILER =
      List.of("-XX:TieredStopAtLevel=1", "-XX:CICompilerCount=1");

  private final ServerBinaries binaries;
  private final RunDirectory directory;
  private final ClusterPlan plan;
  private final boolean longRun;
  private final boolean failPoints;
  private final boolean waitingStreams;
  private final @Nullable Integer noopSeconds;

  /**
   * @param longRun whether routers on a JVM are used so long that its optimizing compiler pays
   * @param failPoints whether servers and stand-in routers take {@code configureFailPoint}
   * @param waitingStreams whether stand-in routers' change streams wait as those of a mongos do
   * @param noopSeconds how often idle servers write a no-op; null for their own interval
   */
  Programs(
      ServerBinaries binaries,
      RunDirectory directory,
      ClusterPlan plan,
      boolean longRun,
      boolean failPoints,
      boolean waitingStreams,
      @Nullable Integer noopSeconds) {
    this.binaries = binaries;
    this.directory = directory;
    this.plan = plan;
    this.longRun = longRun;
    this.failPoints = failPoints;
    this.waitingStreams = waitingStreams;
    this.noopSeconds = noopSeconds;
  }

  /** Program and arguments of a server. */
  List<String> command(Server server) {
    return server.role() != Server.Role.ROUTER
        ? mongod(server)
        : binaries.mongos() == null ? standInRouter(server) : mongos(server);
  }

  private List<String> mongod(Server server) {
    List<String> command = new ArrayList<>();
    command.add(binaries.mongod().path().toString());
    command.addAll(mongodOptions(server));
    if (failPoints) {
      parameter(command, TEST_COMMANDS, "1");
    }
    if (noopSeconds != null) {
      parameter(command, "periodicNoopIntervalSecs", String.valueOf(noopSeconds));
    }
    command.addAll(List.of("--dbpath", directory.data(server.name()).toString()));
    command.addAll(network(server));
    return command;
  }

  /** The options of a testbed's mongod, whatever it runs on. */
  static List<String> mongodOptions(Server server) {
    List<String> command = new ArrayList<>();
    command.add(server.role() == Server.Role.CONFIG ? "--configsvr" : "--shardsvr");
    command.addAll(List.of("--replSet", server.replicaSet()));
    command.addAll(List.of("--wiredTigerCacheSizeGB", CACHE_GB));
    command.addAll(List.of("--oplogSize", OPLOG_MB));
    parameter(command, "diagnosticDataCollectionEnabled", "false");
    // Nothing is moved here but by the testbed and its tests; they shall not wait for 15 minutes
    // until a range that has left can come back.
    parameter(command, "orphanCleanupDelaySecs", "1");
    parameter(command, "disableLogicalSessionCacheRefresh", "true");
    parameter(command, "ttlMonitorEnabled", "false");
    return command;
  }

  private static void parameter(List<String> command, String name, String value) {
    command.add("--setParameter");
    command.add(name + "=" + value);
  }

  private List<String> network(Server server) {
    return List.of(
        "--bind_ip",
        server.listenAddress().getAddress().getHostAddress(),
        "--port",
        String.valueOf(server.listenAddress().getPort()),
        "--nounixsocket",
        "--quiet",
        "--logpath",
        directory.log(server.name()).toString());
  }

  private List<String> mongos(Server server) {
    List<String> command = new ArrayList<>();
    command.add(Objects.requireNonNull(binaries.mongos()).path().toString());
    command.addAll(List.of("--configdb", plan.configDb()));
    if (failPoints) {
      parameter(command, TEST_COMMANDS, "1");
    }
    command.addAll(network(server));
    return HostName.command(server.host().address(), command);
  }

  private List<String> standInRouter(Server server) {
    List<String> command = plainStandInRouter(server);
    if (failPoints) {
      command.addAll(List.of("--fail-points", "true"));
    }
    if (waitingStreams) {
      command.addAll(List.of("--waiting-streams", "true"));
    }
    return command;
  }

  private List<String> plainStandInRouter(Server server) {
    return standInRouter(
        server,
        longRun ? List.of() : QUICK_COMPILER,
        ProcessHandle.current().info().command().orElse("java"),
        System.getProperty("java.class.path"),
        // Names the run, so that a killed run's router can be told from others.
        directory.path().toString(),
        server.listenAddress().getAddress().getHostAddress(),
        plan.configDb(),
        local(server));
  }

  /**
   * The mongods on a router's host that others reach over a link, as {@code address=where it
   * listens,...}. What stays on a host passes no network, and a link would only take processor time
   * from what is measured.
   */
  private String local(Server router) {
    return plan.mongods().stream()
        .filter(server -> server.host().equals(router.host()) && server.isBehindLink())
        .map(
            server ->
                server.advertised()
                    + "="
                    + server.listenAddress().getAddress().getHostAddress()
                    + ":"
                    + server.listenAddress().getPort())
        .collect(Collectors.joining(","));
  }

  /**
   * A stand-in router, whatever it runs on.
   *
   * @param compiler options of the JVM, such as {@link #QUICK_COMPILER}
   * @param local servers to be reached directly, empty for none
   */
  static List<String> standInRouter(
      Server server,
      List<String> compiler,
      String java,
      String classPath,
      String run,
      String bind,
      String configDb,
      String local) {
    List<String> command = new ArrayList<>(List.of(java, "-XX:+UseSerialGC"));
    command.addAll(compiler);
    command.addAll(List.of("-Xms48m", "-Xmx256m", "-Donehop.run=" + run, "-cp", classPath));
    command.addAll(List.of(STAND_IN_ROUTER, "--configdb", configDb, "--bind", bind));
    command.addAll(List.of("--port", String.valueOf(server.listenAddress().getPort())));
    command.addAll(List.of("--advertise", server.advertised(), "--local", local));
    return command;
  }
}
