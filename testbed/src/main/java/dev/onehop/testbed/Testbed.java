package dev.onehop.testbed;

import com.mongodb.MongoNamespace;
import dev.onehop.testbed.evidence.CpuTimes;
import dev.onehop.testbed.evidence.ServerEvidence;
import dev.onehop.testbed.evidence.ServerUsage;
import dev.onehop.testbed.evidence.Traffic;
import dev.onehop.testbed.internal.binaries.BinaryFinder;
import dev.onehop.testbed.internal.cluster.Cluster;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.cluster.ShardedCollection;
import dev.onehop.testbed.internal.link.Link;
import dev.onehop.testbed.internal.link.Peer;
import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.RoundTrips;
import dev.onehop.testbed.topology.Topology;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * A running sharded cluster, laid out as a {@link Topology} says. Every server is a real process on
 * this machine; traffic between hosts in different places takes the configured time, in both
 * directions. {@link #close} ends every process and removes the data, and so does the end of this
 * JVM.
 *
 * <p>Thread-safe.
 */
public final class Testbed implements AutoCloseable {
  private static final int LATENCY_WINDOW_MILLIS = 15;

  private final Topology topology;
  private final Run run;
  private final Cluster cluster;
  private final ServerInfo server;
  private final Map<String, Duration> startPhases;
  private final boolean longRun;

  Testbed(
      Topology topology,
      Run run,
      Cluster cluster,
      ServerInfo server,
      Map<String, Duration> startPhases,
      boolean longRun) {
    this.topology = topology;
    this.run = run;
    this.cluster = cluster;
    this.server = server;
    this.startPhases = new LinkedHashMap<>(startPhases);
    this.longRun = longRun;
  }

  /** Prepares to start a topology. */
  public static Builder builder(Topology topology) {
    return new Builder(topology);
  }

  public Topology topology() {
    return topology;
  }

  /** What the cluster is made of. */
  public ServerInfo server() {
    return server;
  }

  /**
   * Where an application on the client's host connects to: the mongos on that host if there is one,
   * else every mongos within the drivers' latency window of 15 ms beyond the nearest.
   *
   * @return {@code mongodb://host:port[,host:port...]}
   * @throws IllegalStateException if the testbed was started without routers
   */
  public String url() {
    return url(topology, run.plan());
  }

  static String url(Topology topology, ClusterPlan plan) {
    if (plan.routers().isEmpty()) {
      throw new IllegalStateException("the testbed was started without routers");
    }
    Host nearest = topology.mongosHostsByDistance().get(0);
    Duration window =
        topology.roundTrip(topology.client(), nearest).plusMillis(LATENCY_WINDOW_MILLIS);
    if (nearest.equals(topology.client())) {
      window = Duration.ofNanos(-1);
    }
    StringBuilder url = new StringBuilder("mongodb://");
    url.append(nearest.address()).append(':').append(Topology.MONGOS_PORT);
    for (Host host : topology.mongosHostsByDistance()) {
      if (!host.equals(nearest)
          && topology.roundTrip(topology.client(), host).compareTo(window) <= 0) {
        url.append(',').append(host.address()).append(':').append(Topology.MONGOS_PORT);
      }
    }
    return url.toString();
  }

  /** Every mongos, as {@code host:port}, in the topology's order. */
  public List<String> mongosAddresses() {
    return run.plan().routers().stream().map(Server::advertised).toList();
  }

  /** Every shard's replica set, as {@code name/host:port[,host:port...]}, by the shard's name. */
  public Map<String, String> shardHosts() {
    return cluster.shards().stream()
        .collect(
            Collectors.toMap(
                shard -> shard.name(),
                shard -> shard.connectionString(),
                (a, b) -> a,
                LinkedHashMap::new));
  }

  /** The config servers' replica set, as {@code name/host:port[,host:port...]}. */
  public String configServers() {
    return cluster.config().connectionString();
  }

  /** How long the phases of the start took, in order. */
  public Map<String, Duration> startPhases() {
    return new LinkedHashMap<>(startPhases);
  }

  /**
   * Shards a collection and places it: creates database and collection, splits at the given points
   * and moves ranges until the shards own equal shares of them, contiguous and in the topology's
   * order; then checks config.chunks. What is already so stays so; an existing collection must have
   * the same key. Delays are off meanwhile, as nothing is being measured yet.
   *
   * @param namespace {@code database.collection}
   * @param key the shard key pattern, for example <code>{_id: 1}</code>
   * @param splitPoints lower bounds of all ranges but the first, ascending, in the key's own shape
   *     (hashed fields as int64); empty to leave the placement to the server
   * @throws TestbedException if a server refuses or the result is not as asked for
   */
  public void shardCollection(String namespace, BsonDocument key, List<BsonDocument> splitPoints) {
    withoutDelays(
        () -> {
          ShardedCollection collection = new ShardedCollection(cluster, namespace);
          collection.create(key, null);
          if (!splitPoints.isEmpty()) {
            collection.spread(splitPoints);
          }
        });
  }

  /**
   * Shards a collection on a hashed key; the server deals the chunks to the shards.
   *
   * @param key with a hashed field
   * @param numInitialChunks how many chunks to begin with
   */
  public void shardHashedCollection(String namespace, BsonDocument key, int numInitialChunks) {
    withoutDelays(() -> new ShardedCollection(cluster, namespace).create(key, numInitialChunks));
  }

  /**
   * Splits a sharded collection's chunks at the given points, where they aren't split already.
   *
   * @param points in the key's own shape
   */
  public void splitAt(String namespace, List<BsonDocument> points) {
    new ShardedCollection(cluster, namespace).splitAt(points);
  }

  /**
   * Moves the chunk that begins at {@code min} to a shard, through the same delays as any other
   * traffic, and waits until it is there.
   *
   * @throws TestbedException if the servers refuse, or are kept from it for a minute
   */
  public void moveRange(String namespace, BsonDocument min, String toShard) {
    new ShardedCollection(cluster, namespace).moveRange(min, null, toShard);
  }

  /** Drops a sharded collection on every shard; does nothing if there is none. */
  public void dropCollection(String namespace) {
    new ShardedCollection(cluster, namespace).drop();
  }

  /**
   * Sends some thousand reads and updates that change nothing through every router, delays off, so
   * that what is measured next is not a router's first operations. Takes some seconds, or two
   * minutes before a {@link Builder#longRun}. Does nothing if the collection is empty.
   *
   * @param namespace {@code database.collection}, sharded on {@code _id}
   * @throws TestbedException if a router refuses an operation
   */
  public void warmUpRouters(String namespace) {
    RouterWarmup warmup =
        new RouterWarmup(cluster, run.plan().routers(), run.platform().routerAccess(), longRun);
    withoutDelays(() -> warmup.run(new MongoNamespace(namespace)));
  }

  /**
   * What the servers say about a collection.
   *
   * @param namespace {@code database.collection}
   */
  public ServerEvidence evidence(String namespace) {
    return new ServerEvidence(
        topology, cluster, run.plan().routers(), run.platform().access(), namespace);
  }

  /**
   * Measures the round trips from the client's host to every other host that runs a server, with
   * single pings over idle connections. Takes about 30 times the longest round trip, and a second
   * at least.
   *
   * @return medians, beside the configured ones
   * @throws TestbedException if a server does not answer
   */
  public RoundTrips measureRoundTrips() {
    return RoundTripMeter.measure(topology, run.plan(), run.platform().access().tls());
  }

  /**
   * Keeps the servers to some processors, by lists as of taskset(1), such as {@code 2-5}. What they
   * start later is kept to them, too.
   *
   * @param routers for all routers
   * @param mongods for all config servers and shard members
   * @return whether that could be done for all of them: not for containers, and not where there is
   *     no taskset or not those processors
   */
  public boolean pin(String routers, String mongods) {
    return run.pin(routers, mongods);
  }

  /**
   * Holds each router to a share of a processor until it ends, as if each had a machine of that
   * size. For servers that run as processes.
   *
   * @param processors for each router, 0.001 or more
   * @throws TestbedException if this user or this machine can't do that: it takes root and Linux
   *     control groups
   */
  public void limitRouters(double processors) {
    run.limitRouters(processors);
  }

  /** The processor time that servers and links have used so far. Cheap: may be asked often. */
  public CpuTimes cpuTimes() {
    return run.cpuTimes();
  }

  /**
   * What the links have carried so far. Cheap: may be asked often. Empty where servers are not
   * behind links: where there are no distances, and where servers are somebody else's.
   */
  public Traffic traffic() {
    return run.links().traffic(host -> topology.host(host).region());
  }

  /**
   * Says that a process of this machine is an application on a host, in place of the client's.
   * Holds for connections that it opens from now on.
   *
   * @param pid the process
   * @param host name of a host of the topology
   * @throws IllegalArgumentException if there is no such host
   */
  public void place(long pid, String host) {
    run.links().callers().register(pid, Peer.client(topology.host(host).name()));
  }

  /**
   * What each server occupies at present: sockets and memory. Empty for servers that are no
   * processes of this machine.
   */
  public List<ServerUsage> serverUsage() {
    return run.usage();
  }

  /**
   * Is told of every server that ends by itself. Servers that end because this testbed or this JVM
   * is being stopped are not reported.
   *
   * @param listener called on another thread
   */
  public void onProcessDeath(Consumer<ProcessFailure> listener) {
    run.onProcessDeath(listener);
  }

  /**
   * Breaks off every connection to a server; new ones are taken as before.
   *
   * @param address the server, as {@code host:port}
   * @throws IllegalArgumentException if no link leads there
   */
  public void cutConnections(String address) {
    link(address).cut();
  }

  /**
   * While blocked, every connection to a server is broken off, new ones included.
   *
   * @param address the server, as {@code host:port}
   * @throws IllegalArgumentException if no link leads there
   */
  public void setBlocked(String address, boolean blocked) {
    link(address).setBlocked(blocked);
  }

  /**
   * Makes the way to a server longer than the topology has it.
   *
   * @param address the server, as {@code host:port}
   * @param roundTrip by how much, both ways together; zero for no longer
   * @throws IllegalArgumentException if no link leads there
   */
  public void setFurther(String address, Duration roundTrip) {
    link(address).setFurther(roundTrip);
  }

  /**
   * Stops a server where it is (SIGSTOP), or lets it go on (SIGCONT). Its connections stay; nothing
   * is answered meanwhile.
   *
   * @param address the server, as {@code host:port}
   * @throws IllegalArgumentException if there is no such server
   * @throws UnsupportedOperationException if servers are no processes of this machine
   */
  public void setFrozen(String address, boolean frozen) {
    run.setFrozen(address, frozen);
  }

  /**
   * Ends a server at once. Its data stays; its end is not reported as a failure.
   *
   * @param address the server, as {@code host:port}
   * @throws IllegalArgumentException if there is no such server
   */
  public void kill(String address) {
    run.kill(address);
  }

  /**
   * Starts a killed server once more, as it was started, and waits until it listens.
   *
   * @param address the server, as {@code host:port}
   * @throws IllegalArgumentException if there is no such server, or it runs
   * @throws TestbedException if it cannot be started
   */
  public void restart(String address) {
    run.restart(address);
  }

  private Link link(String address) {
    return run.links().all().stream()
        .filter(
            link ->
                address.equals(
                    link.advertised().getAddress().getHostAddress()
                        + ":"
                        + link.advertised().getPort()))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("no link leads to " + address));
  }

  private void withoutDelays(Runnable work) {
    run.links().setDelayed(false);
    try {
      work.run();
    } finally {
      run.links().setDelayed(true);
    }
  }

  /** Ends every process and removes the data. May be called more than once. */
  @Override
  public void close() {
    cluster.close();
    run.close();
  }

  /** How to start a testbed. Not thread-safe. */
  public static final class Builder {
    final Topology topology;
    @Nullable Path mongod;
    @Nullable Path mongos;
    @Nullable String featureCompatibilityVersion;
    boolean routers = true;
    boolean longRun;
    boolean failPoints;
    boolean waitingStreams;
    @Nullable Integer noopSeconds;
    Consumer<String> progress = line -> {};
    Consumer<Testbed> preparation = testbed -> {};
    Path cacheFolder = BinaryFinder.cacheFolder(System.getenv());
    Function<Builder, Platform> platform = ProcessPlatform::prepare;

    private Builder(Topology topology) {
      this.topology = topology;
    }

    /** The mongod to use; null (as at first) to find one. */
    public Builder mongod(@Nullable Path binary) {
      this.mongod = binary;
      return this;
    }

    /** The mongos to use; null (as at first) to find one, or else to use the stand-in router. */
    public Builder mongos(@Nullable Path binary) {
      this.mongos = binary;
      return this;
    }

    /**
     * The cluster's feature compatibility version, for example {@code 5.0}. Null (as at first) for
     * the servers' own, or that of a mongos older than the mongod.
     */
    public Builder featureCompatibilityVersion(@Nullable String version) {
      this.featureCompatibilityVersion = version;
      return this;
    }

    /** Starts no mongos at all, for tests that talk to config servers and shards only. */
    public Builder withoutRouters() {
      this.routers = false;
      return this;
    }

    /**
     * The cluster is for many minutes of measuring: stand-in routers, which run on a JVM, get its
     * optimizing compiler, and {@link Testbed#warmUpRouters} takes the minute or two that this
     * needs.
     */
    public Builder longRun(boolean measuresLong) {
      this.longRun = measuresLong;
      return this;
    }

    /**
     * Servers take {@code configureFailPoint}, for tests that need errors at will; a stand-in
     * router takes the fail point {@code failCommand}. For servers that run as processes.
     */
    public Builder failPoints() {
      this.failPoints = true;
      return this;
    }

    /**
     * Change streams of stand-in routers wait as those of a mongos do: for every shard and the
     * config servers to say by themselves that nothing older will come. Otherwise they make idle
     * shards say so. For servers that run as processes.
     */
    public Builder withWaitingStreams(boolean waiting) {
      this.waitingStreams = waiting;
      return this;
    }

    /**
     * How often an idle shard writes a no-op, in seconds; null (as at first) for the servers' own
     * interval, which is ten. For servers that run as processes.
     */
    public Builder noopSeconds(@Nullable Integer seconds) {
      this.noopSeconds = seconds;
      return this;
    }

    /** Is told, a line at a time, what the start is at. */
    public Builder progress(Consumer<String> listener) {
      this.progress = listener;
      return this;
    }

    /**
     * What to do before the testbed counts as started, here and for {@link RunningTestbed}, such as
     * to shard a collection. If it fails, so does the start.
     */
    public Builder prepared(Consumer<Testbed> work) {
      this.preparation = work;
      return this;
    }

    /**
     * Uses servers that somebody else has started and keeps running; no binary is looked for, and
     * delays are as the network makes them. They are formed to a cluster if they aren't one.
     */
    public Builder existing(ExistingServers servers) {
      return platform(options -> ExistingPlatform.prepare(options, servers));
    }

    /** What to run the servers on; processes of this machine unless set. */
    Builder platform(Function<Builder, Platform> prepare) {
      this.platform = prepare;
      return this;
    }

    /** Where downloads and runs are kept; {@code ~/.cache/onehop} unless set. */
    public Builder cacheFolder(Path folder) {
      this.cacheFolder = folder;
      return this;
    }

    /**
     * Starts the cluster and waits until it can be used.
     *
     * @throws TestbedException if it cannot be started; whatever was started by then has been
     *     stopped
     */
    public Testbed start() {
      return new Start(this).start();
    }
  }
}
