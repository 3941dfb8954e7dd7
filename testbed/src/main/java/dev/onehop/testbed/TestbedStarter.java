package dev.onehop.testbed;

import dev.onehop.testbed.internal.cluster.Admin;
import dev.onehop.testbed.internal.cluster.Cluster;
import dev.onehop.testbed.internal.cluster.Credentials;
import dev.onehop.testbed.internal.cluster.ReplicaSet;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.cluster.Waiting;
import dev.onehop.testbed.internal.link.Callers;
import dev.onehop.testbed.internal.link.ConnectionEnd;
import dev.onehop.testbed.internal.link.Links;
import dev.onehop.testbed.internal.process.RunningServer;
import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.Topology;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;

/** One start of a testbed, from finding the binaries to a ready cluster. */
final class TestbedStarter {
  private static final Duration SERVER_READY = Duration.ofSeconds(60);

  private final Testbed.Builder options;
  private final Map<String, Duration> phases = new LinkedHashMap<>();
  private long phaseBegan = System.nanoTime();
  private boolean serversFailed;

  TestbedStarter(Testbed.Builder options) {
    this.options = options;
  }

  Testbed start() {
    Platform platform = options.platform.apply(options);
    if (!platform.isFormed()) {
      return start(platform);
    }
    try {
      return start(platform);
    } catch (TestbedException e) {
      if (!serversFailed) {
        throw e;
      }
      platform.forgetFormed();
      options.progress.accept("cannot start with the data of an earlier start: " + e.getMessage());
      return start(options.platform.apply(options));
    }
  }

  private Testbed start(Platform platform) {
    Topology topology = platform.topology();
    Callers callers = new Callers(platform.peers(), ConnectionEnd.client(topology.client().name()));
    RunResources run;
    try {
      run = new RunResources(platform, links(topology, callers));
    } catch (RuntimeException e) {
      platform.close();
      throw e;
    }
    Cluster cluster = null;
    try {
      phaseDone("preparation");
      cluster = startServers(run, callers);
      run.links().setDelayed(true);
      Testbed testbed =
          new Testbed(topology, run, cluster, info(cluster, platform), phases, options.longRun);
      options.preparation.accept(testbed);
      platform.started(run.plan().routers().isEmpty() ? "" : testbed.url());
      return testbed;
    } catch (RuntimeException e) {
      if (cluster != null) {
        cluster.close();
      }
      boolean stopped = run.isClosing();
      serversFailed = cluster == null && !stopped;
      run.close();
      throw stopped ? new TestbedException("stopped while starting", e) : e;
    }
  }

  private static Links links(Topology topology, Callers callers) {
    Map<String, InetAddress> addresses = new HashMap<>();
    for (Host host : topology.hosts()) {
      addresses.put(host.name(), new InetSocketAddress(host.address(), 0).getAddress());
    }
    return new Links(
        addresses,
        (from, to) -> topology.roundTrip(topology.host(from), topology.host(to)),
        callers);
  }

  private Cluster startServers(RunResources run, Callers callers) {
    ClusterPlan plan = run.plan();
    Platform platform = run.platform();
    options.progress.accept(
        "starting %d mongod in %d regions"
            .formatted(plan.mongods().size(), platform.topology().regions().size()));
    Map<Server, RunningServer> mongods = launch(plan.mongods(), run, callers);
    // If the cluster is formed already, the routers start at the same time as the config servers,
    // and wait for them.
    Map<Server, RunningServer> routers =
        platform.isFormed() ? launch(plan.routers(), run, callers) : Map.of();
    // Delays are off until the cluster is formed, because they would only slow the forming.
    run.links().setDelayed(false);
    for (Server server : plan.all()) {
      if (server.isBehindLink()) {
        run.links().open(server.peer(), server.advertisedAddress(), server.listenAddress());
      }
    }
    mongods.forEach(TestbedStarter::awaitListening);
    phaseDone("mongod processes");

    Credentials access = platform.access();
    ReplicaSet config = new ReplicaSet(ClusterPlan.CONFIG_SET, plan.config(), access);
    List<ReplicaSet> shards =
        plan.shards().stream()
            .map(members -> new ReplicaSet(members.get(0).replicaSet(), members, access))
            .toList();
    @Nullable Cluster cluster = null;
    try {
      inParallel(
          config, shards, platform.isFormed() ? ReplicaSet::awaitPrimary : ReplicaSet::initiate);
      platform.initiated(config);
      phaseDone("replica sets");
      @Nullable String fcv =
          options.featureCompatibilityVersion != null
              ? options.featureCompatibilityVersion
              : platform.featureCompatibilityVersion();
      if (fcv != null && !platform.isFormed()) {
        // The version is set before the routers start. A router that is older than the mongods ends
        // if it finds a feature compatibility version above its own version.
        config.setFeatureCompatibilityVersion(fcv);
      }
      if (platform.isFormed() || platform.keepsFormed()) {
        cluster = new Cluster(config, shards, null);
        if (!platform.isFormed()) {
          form(cluster);
          keep(config, shards, platform); // before routers write to config
          routers = launch(plan.routers(), run, callers);
        }
      } else {
        routers = launch(plan.routers(), run, callers);
        boolean mongos = platform.versions().router() == ServerInfo.RouterKind.MONGOS;
        if (mongos) {
          routers.forEach(
              TestbedStarter
                  ::awaitListening); // the mongos takes the commands that form the cluster
        }
        cluster =
            new Cluster(
                config,
                shards,
                mongos ? Admin.of(plan.routers().get(0), platform.routerAccess()) : null);
        form(cluster);
      }
      shards.forEach(ReplicaSet::awaitMembers);
      if (platform.isFormed()) {
        // The copied checkpoint refers to a journal that was not copied. If a server is killed
        // before its next checkpoint, it ignores its new journal when it starts again. So each
        // server writes a checkpoint now.
        inParallel(config, shards, ReplicaSet::checkpoint);
      }
      phaseDone("sharded cluster");
      routers.forEach(TestbedStarter::awaitListening);
      phaseDone("routers");
      return cluster;
    } catch (RuntimeException e) {
      if (cluster != null) {
        cluster.close();
      } else {
        config.close();
        shards.forEach(ReplicaSet::close);
      }
      throw e;
    }
  }

  private void form(Cluster cluster) {
    options.progress.accept("forming the cluster");
    cluster.form();
  }

  private void keep(ReplicaSet config, List<ReplicaSet> shards, Platform platform) {
    // A member's data is complete only after its initial sync.
    shards.forEach(ReplicaSet::awaitMembers);
    Runnable keep = platform::keepFormed;
    for (ReplicaSet shard : shards) {
      Runnable inner = keep;
      keep = () -> shard.withoutWrites(inner);
    }
    try {
      config.withoutWrites(keep);
    } catch (TestbedException e) {
      options.progress.accept("the cluster's data is not kept for later starts: " + e.getMessage());
    }
  }

  /** Starts servers in parallel, because a container takes a second to start. */
  private static Map<Server, RunningServer> launch(
      List<Server> servers, RunResources run, Callers callers) {
    Map<Server, RunningServer> started = new LinkedHashMap<>();
    Map<Server, CompletableFuture<RunningServer>> starting = new LinkedHashMap<>();
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      for (Server server : servers) {
        starting.put(
            server, CompletableFuture.supplyAsync(() -> run.start(server, callers), threads));
      }
      joined(() -> starting.forEach((server, start) -> started.put(server, start.join())));
    } finally {
      threads.shutdown();
    }
    return started;
  }

  private static void inParallel(
      ReplicaSet config, List<ReplicaSet> shards, Consumer<ReplicaSet> work) {
    List<ReplicaSet> sets = new ArrayList<>(shards);
    sets.add(config);
    List<CompletableFuture<Void>> all =
        sets.stream().map(set -> CompletableFuture.runAsync(() -> work.accept(set))).toList();
    joined(() -> all.forEach(CompletableFuture::join));
  }

  private static void joined(Runnable join) {
    try {
      join.run();
    } catch (CompletionException e) {
      throw e.getCause() instanceof TestbedException refused ? refused : e;
    }
  }

  /** Waits until a server listens. A router listens only when it can route. */
  static void awaitListening(Server server, RunningServer process) {
    await(server, process, () -> accepts(server));
  }

  private static void await(Server server, RunningServer process, BooleanSupplier ready) {
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

  private ServerInfo info(Cluster cluster, Platform platform) {
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
    Platform.Versions versions = platform.versions();
    String mongod =
        versions.mongod() == null ? version(cluster.config().primary()) : versions.mongod();
    String router =
        switch (versions.router()) {
          case NONE -> "";
          case STAND_IN -> standInVersion();
          case MONGOS -> versions.mongos() == null ? mongod : versions.mongos();
        };
    return new ServerInfo(mongod, fcv, versions.router(), router);
  }

  private static String version(Admin server) {
    return server
        .run("admin", new BsonDocument("buildInfo", new BsonInt32(1)))
        .getString("version")
        .getValue();
  }

  /**
   * Returns the stand-in router's version, which is the library's version. It is unknown if the
   * classes are not in a jar.
   */
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
