package dev.onehop.testbed;

import dev.onehop.testbed.ServerInfo.RouterKind;
import dev.onehop.testbed.internal.binaries.BinaryFinder;
import dev.onehop.testbed.internal.binaries.ServerBinaries;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.link.Callers;
import dev.onehop.testbed.internal.link.ConnectionEnd;
import dev.onehop.testbed.internal.process.HostName;
import dev.onehop.testbed.internal.process.Ports;
import dev.onehop.testbed.internal.process.ProcFs;
import dev.onehop.testbed.internal.process.RunningServer;
import dev.onehop.testbed.internal.process.ServerProcess;
import dev.onehop.testbed.internal.run.FormedData;
import dev.onehop.testbed.internal.run.RunDirectory;
import dev.onehop.testbed.internal.run.RunState;
import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.Topology;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs servers as processes of this machine, and each host as an address of the loopback network.
 */
final class ProcessPlatform implements Platform {
  private final Topology topology;
  private final ServerBinaries binaries;
  private final ClusterPlan plan;
  private final RunDirectory directory;
  private final ServerCommandLines programs;
  private final @Nullable FormedData formedData;
  private final boolean formed;
  private final Versions versions;
  private final @Nullable String requiredFeatureCompatibilityVersion;
  private final List<RunState.Entry> entries = new ArrayList<>();
  private String phase = RunState.STARTING;
  private String url = "";

  private ProcessPlatform(
      Testbed.Builder options, ServerBinaries binaries, ClusterPlan plan, RunDirectory directory) {
    this.topology = options.topology;
    this.binaries = binaries;
    this.plan = plan;
    this.directory = directory;
    this.programs =
        new ServerCommandLines(
            binaries,
            directory,
            plan,
            options.longRun,
            options.failPoints,
            options.waitingStreams,
            options.noopSeconds);
    // Data is kept only without a mongos: a mongos leaves its own entries in the config servers'
    // data.
    this.formedData = binaries.mongos() == null ? formedData(options, binaries, plan) : null;
    this.formed = formedData != null && formedData.copyTo(directory.data());
    this.versions =
        new Versions(
            binaries.mongod().version(),
            routerKind(options, binaries),
            binaries.mongos() == null ? null : binaries.mongos().version());
    this.requiredFeatureCompatibilityVersion =
        options.routers ? binaries.requiredFeatureCompatibilityVersion() : null;
    synchronized (this) {
      writeState();
    }
  }

  /**
   * Finds the programs, and claims the topology's run directory and ports.
   *
   * @throws TestbedException if a program, the directory or a port is not available
   */
  static ProcessPlatform prepare(Testbed.Builder options) {
    ServerBinaries binaries =
        new BinaryFinder(options.cacheFolder, System.getenv(), options.progress)
            .find(options.mongod, options.mongos);
    announce(options, binaries);
    ClusterPlan plan = ClusterPlan.of(options.topology, options.routers, binaries.mongos() != null);
    RunDirectory directory =
        RunDirectory.claim(
            RunDirectory.root(options.cacheFolder),
            options.topology.name(),
            leftover ->
                options.progress.accept(
                    "ended " + leftover + ", which was left by a run that was killed"));
    try {
      for (Server server : plan.all()) {
        Ports.requireFree(server.advertisedAddress());
        if (server.isBehindLink()) {
          Ports.requireFree(server.listenAddress());
        }
      }
      return new ProcessPlatform(options, binaries, plan, directory);
    } catch (RuntimeException e) {
      directory.close();
      throw e;
    }
  }

  private static FormedData formedData(
      Testbed.Builder options, ServerBinaries binaries, ClusterPlan plan) {
    List<String> cluster = new ArrayList<>();
    cluster.add(binaries.mongod().version());
    cluster.add(String.valueOf(options.featureCompatibilityVersion));
    for (Server server : plan.mongods()) {
      cluster.add(server.name() + " " + server.role() + " " + server.replicaSet());
      cluster.add(server.advertised());
    }
    return new FormedData(options.cacheFolder, cluster);
  }

  private static void announce(Testbed.Builder options, ServerBinaries binaries) {
    ServerBinaries.@Nullable Binary mongos = binaries.mongos();
    options.progress.accept(
        "mongod %s from %s".formatted(binaries.mongod().version(), binaries.mongod().origin()));
    if (options.routers) {
      options.progress.accept(
          mongos == null
              ? "no mongos binary found: using the stand-in router in its place"
              : "mongos %s from %s".formatted(mongos.version(), mongos.origin()));
      if (mongos != null && !HostName.isPossible()) {
        options.progress.accept(
            "this system does not allow namespaces (unshare), so all mongoses register under the"
                + " name of this machine, and clients cannot find the near mongos by its name");
      }
    }
  }

  private static RouterKind routerKind(Testbed.Builder options, ServerBinaries binaries) {
    if (!options.routers) {
      return RouterKind.NONE;
    }
    return binaries.mongos() == null ? RouterKind.STAND_IN : RouterKind.MONGOS;
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
  public @Nullable String featureCompatibilityVersion() {
    return requiredFeatureCompatibilityVersion;
  }

  @Override
  public boolean isFormed() {
    return formed;
  }

  @Override
  public boolean keepsFormed() {
    return formedData != null && !formed;
  }

  @Override
  public void keepFormed() {
    if (formedData != null) {
      formedData.keep(directory.data());
    }
  }

  @Override
  public void forgetFormed() {
    if (formedData != null) {
      formedData.remove();
    }
  }

  @Override
  public Map<InetAddress, ConnectionEnd> peers() {
    Map<InetAddress, ConnectionEnd> hosts = new HashMap<>();
    for (Host host : topology.hosts()) {
      try {
        hosts.put(InetAddress.getByName(host.address()), ConnectionEnd.client(host.name()));
      } catch (UnknownHostException e) {
        throw new IllegalStateException(e); // cannot happen with a literal address
      }
    }
    return hosts;
  }

  @Override
  public synchronized RunningServer launch(Server server, Callers callers) {
    String name = server.name();
    ServerProcess process =
        ServerProcess.start(
            name, programs.command(server), directory.log(name), directory.output(name));
    callers.register(process.pid(), server.peer());
    // The entry of a restarted server replaces the entry of its earlier process.
    entries.removeIf(entry -> entry.name().equals(name));
    entries.add(new RunState.Entry(name, server.advertised(), process.pid(), process.startTicks()));
    writeState();
    return process;
  }

  @Override
  public synchronized void started(String whereTo) {
    phase = RunState.RUNNING;
    url = whereTo;
    writeState();
  }

  private void writeState() {
    long pid = ProcessHandle.current().pid();
    RunState.Entry owner = new RunState.Entry("owner", "", pid, ProcFs.startTicks(pid).orElse(-1));
    boolean standIns = versions.router() == RouterKind.STAND_IN;
    new RunState(topology.name(), phase, url, standIns, owner, entries).write(directory.path());
  }

  @Override
  public void close() {
    directory.close();
  }

  @Override
  public String toString() {
    return "processes, mongod " + binaries.mongod().version();
  }
}
