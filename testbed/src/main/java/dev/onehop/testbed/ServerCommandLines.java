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

/** The command lines of the servers of a run, with settings for many servers on a small machine. */
final class ServerCommandLines {
  private static final String STAND_IN_ROUTER = "dev.onehop.testbed.standin.StandInRouter";
  private static final String CACHE_GB = "0.25"; // The smallest cache that WiredTiger accepts.
  private static final String OPLOG_MB = "256";
  private static final String TEST_COMMANDS = "enableTestCommands";

  /**
   * Turns the optimizing compiler off. This halves the processor time of a JVM's start and leaves
   * the processors to the measured programs.
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
   * @param longRun whether routers on a JVM run so long that they gain from the optimizing compiler
   * @param failPoints whether servers and stand-in routers accept {@code configureFailPoint}
   * @param waitingStreams whether change streams of stand-in routers wait for idle shards, as a
   *     mongos' streams do
   * @param noopSeconds the interval in seconds of an idle server's no-op writes; null for the
   *     servers' default
   */
  ServerCommandLines(
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

  /** The program and arguments of a server. */
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

  /** The options of a testbed's mongod on any platform. */
  static List<String> mongodOptions(Server server) {
    List<String> command = new ArrayList<>();
    command.add(server.role() == Server.Role.CONFIG ? "--configsvr" : "--shardsvr");
    command.addAll(List.of("--replSet", server.replicaSet()));
    command.addAll(List.of("--wiredTigerCacheSizeGB", CACHE_GB));
    command.addAll(List.of("--oplogSize", OPLOG_MB));
    parameter(command, "diagnosticDataCollectionEnabled", "false");
    // A range that has left a shard can return only after the shard has deleted the range's
    // documents. By default, this deletion begins after 15 minutes. A short delay is safe, because
    // only the testbed and its tests move ranges.
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
        // The folder becomes a JVM property, by which the routers of a killed run are found.
        directory.path().toString(),
        server.listenAddress().getAddress().getHostAddress(),
        plan.configDb(),
        local(server));
  }

  /**
   * Returns the mongods that are on a router's host and behind a link, as {@code
   * ADVERTISED=LISTENING,...}. The router connects to them without the link, because traffic within
   * a host has no delay. The link would only take processor time from the measured programs.
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
   * The command line of a stand-in router on any platform.
   *
   * @param compiler options of the JVM, such as {@link #QUICK_COMPILER}
   * @param local the servers to reach without their links, as {@link #local} returns them
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
