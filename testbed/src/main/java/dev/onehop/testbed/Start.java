package dev.onehop.testbed;

import dev.onehop.testbed.internal.binaries.BinaryFinder;
import dev.onehop.testbed.internal.binaries.ServerBinaries;
import dev.onehop.testbed.internal.cluster.Cluster;
import dev.onehop.testbed.internal.cluster.ReplicaSet;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.cluster.Waiting;
import dev.onehop.testbed.internal.link.Callers;
import dev.onehop.testbed.internal.link.Links;
import dev.onehop.testbed.internal.process.Ports;
import dev.onehop.testbed.internal.process.ServerProcess;
import dev.onehop.testbed.internal.run.RunDirectory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;

/** One start of a testbed, from finding the binaries to a cluster that can be used. */
final class Start {
  private static final Duration SERVER_READY = Duration.ofSeconds(60);

  private final Testbed.Builder options;
  private final Topology topology;
  private final Map<String, Duration> phases = new LinkedHashMap<>();
  private long phaseBegan = System.nanoTime();

  Start(Testbed.Builder options) {
    this.options = options;
    this.topology = options.topology;
  }

  Testbed start() {
    ServerBinaries binaries =
        new BinaryFinder(options.cacheFolder, System.getenv(), options.progress)
            .find(options.mongod, options.mongos);
    phaseDone("binaries");
    announce(binaries);
    ClusterPlan plan = ClusterPlan.of(topology, options.routers, binaries.mongos() != null);
    RunDirectory directory =
        RunDirectory.claim(
            RunDirectory.root(options.cacheFolder),
            topology.name(),
            leftover -> options.progress.accept("ended " + leftover + ", left by a killed run"));
    Run run;
    Callers callers;
    try {
      for (Server server : plan.all()) {
        Ports.requireFree(server.advertisedAddress());
        if (server.isBehindLink()) {
          Ports.requireFree(server.listenAddress());
        }
      }
      callers = callers();
      run = new Run(topology, plan, directory, links(callers));
    } catch (RuntimeException e) {
      directory.close();
      throw e;
    }
    Cluster cluster = null;
    try {
      phaseDone("preparation");
      Programs programs = new Programs(binaries, run);
      cluster = startServers(plan, run, callers, programs);
      run.links().setDelayed(true);
      run.started(plan.routers().isEmpty() ? "" : Testbed.url(topology, plan));
      return new Testbed(topology, run, cluster, info(cluster, binaries), phases);
    } catch (RuntimeException e) {
      if (cluster != null) {
        cluster.close();
      }
      boolean stopped = run.isClosing();
      run.close();
      throw stopped ? new TestbedException("stopped while starting", e) : e;
    }
  }

  private void announce(ServerBinaries binaries) {
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
            "this system allows no namespaces (unshare): every mongos registers under the machine's"
                + " own name, and clients cannot tell by names which stands where");
      }
    }
  }

  private Callers callers() {
    Map<InetAddress, String> hostByAddress = new HashMap<>();
    addresses().forEach((host, address) -> hostByAddress.put(address, host));
    return new Callers(hostByAddress, topology.client().name());
  }

  private Links links(Callers callers) {
    return new Links(
        addresses(),
        (from, to) -> topology.roundTrip(topology.host(from), topology.host(to)),
        callers);
  }

  private Map<String, InetAddress> addresses() {
    Map<String, InetAddress> addresses = new HashMap<>();
    for (Host host : topology.hosts()) {
      try {
        addresses.put(host.name(), InetAddress.getByName(host.address()));
      } catch (UnknownHostException e) {
        throw new IllegalStateException(e); // It is a literal address.
      }
    }
    return addresses;
  }

  private Cluster startServers(ClusterPlan plan, Run run, Callers callers, Programs programs) {
    options.progress.accept(
        "starting %d mongod in %d regions"
            .formatted(plan.mongods().size(), topology.regions().size()));
    Map<Server, ServerProcess> processes = new LinkedHashMap<>();
    for (Server server : plan.mongods()) {
      processes.put(server, launch(server, run, callers, programs));
    }
    // Apart they are put when the cluster stands: forming it across oceans would only take longer.
    run.links().setDelayed(false);
    for (Server server : plan.all()) {
      if (server.isBehindLink()) {
        run.links().open(server.host().name(), server.advertisedAddress(), server.listenAddress());
      }
    }
    processes.forEach(Start::awaitListening);
    phaseDone("mongod processes");

    Cluster cluster =
        new Cluster(
            new ReplicaSet(ClusterPlan.CONFIG_SET, plan.config()),
            plan.shards().stream()
                .map(members -> new ReplicaSet(members.get(0).replicaSet(), members))
                .toList());
    try {
      initiate(cluster);
      phaseDone("replica sets");
      Map<Server, ServerProcess> routers = new LinkedHashMap<>();
      boolean early = programs.featureCompatibilityVersion(options) == null;
      if (early) {
        plan.routers().forEach(r -> routers.put(r, launch(r, run, callers, programs)));
      }
      options.progress.accept("forming the cluster");
      cluster.form(programs.featureCompatibilityVersion(options));
      cluster.shards().forEach(ReplicaSet::awaitMembers);
      phaseDone("sharded cluster");
      if (!early) {
        plan.routers().forEach(r -> routers.put(r, launch(r, run, callers, programs)));
      }
      routers.forEach((server, process) -> awaitRouter(server, process, programs));
      phaseDone("routers");
      return cluster;
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  private static ServerProcess launch(Server server, Run run, Callers callers, Programs programs) {
    ServerProcess process =
        run.start(
            server.name(),
            server.advertised(),
            programs.command(server),
            run.directory().log(server.name()));
    callers.register(process.pid(), server.host().name());
    return process;
  }

  private void initiate(Cluster cluster) {
    List<ReplicaSet> sets = new ArrayList<>(cluster.shards());
    sets.add(cluster.config());
    List<CompletableFuture<Void>> initiated =
        sets.stream().map(set -> CompletableFuture.runAsync(set::initiate)).toList();
    try {
      initiated.forEach(CompletableFuture::join);
    } catch (CompletionException e) {
      throw e.getCause() instanceof TestbedException refused ? refused : e;
    }
  }

  private static void awaitListening(Server server, ServerProcess process) {
    await(server, process, () -> accepts(server));
  }

  private static void awaitRouter(Server server, ServerProcess process, Programs programs) {
    await(
        server,
        process,
        () -> programs.isStandIn() ? process.output().contains("listening on ") : accepts(server));
  }

  private static void await(Server server, ServerProcess process, BooleanSupplier ready) {
    try {
      Waiting.until(
          server.name() + " to listen on " + server.advertised(),
          SERVER_READY,
          () -> {
            if (!process.isAlive()) {
              throw new TestbedException("cannot start: " + process.failure().describe());
            }
            return ready.getAsBoolean();
          });
    } catch (TestbedException e) {
      throw process.isAlive()
          ? new TestbedException(
              e.getMessage()
                  + "; its log ends with:\n  "
                  + String.join("\n  ", process.lastLogLines()))
          : e;
    }
  }

  private static boolean accepts(Server server) {
    try (Socket socket = new Socket()) {
      socket.connect(server.listenAddress(), 1000);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  private ServerInfo info(Cluster cluster, ServerBinaries binaries) {
    BsonDocument parameter =
        cluster
            .config()
            .primary()
            .run(
                "admin",
                new BsonDocument("getParameter", new BsonInt32(1))
                    .append("featureCompatibilityVersion", new BsonInt32(1)));
    String fcv =
        parameter.getDocument("featureCompatibilityVersion").getString("version").getValue();
    ServerBinaries.@Nullable Binary mongos = binaries.mongos();
    if (!options.routers) {
      return new ServerInfo(binaries.mongod().version(), fcv, ServerInfo.RouterKind.NONE, "");
    }
    return mongos == null
        ? new ServerInfo(
            binaries.mongod().version(), fcv, ServerInfo.RouterKind.STAND_IN, standInVersion())
        : new ServerInfo(
            binaries.mongod().version(), fcv, ServerInfo.RouterKind.MONGOS, mongos.version());
  }

  /** The stand-in has the library's own version, which an unpacked build does not know. */
  private static String standInVersion() {
    @Nullable String version = Testbed.class.getPackage().getImplementationVersion();
    return version == null ? "0.1.0-SNAPSHOT" : version;
  }

  private void phaseDone(String phase) {
    long now = System.nanoTime();
    phases.put(phase, Duration.ofNanos(now - phaseBegan));
    phaseBegan = now;
  }
}
