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
import dev.onehop.testbed.internal.link.ConnectionEnd;
import dev.onehop.testbed.internal.link.Link;
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
 * A running sharded cluster with the layout of a {@link Topology}. Every server is a real process
 * on this machine. Traffic between two hosts takes the configured round trip. {@link #close}, or
 * the end of this JVM, ends every process and removes the data.
 *
 * <p>Thread-safe.
 */
public final class Testbed implements AutoCloseable {
  private static final int LATENCY_WINDOW_MILLIS = 15;

  private final Topology topology;
  private final RunResources run;
  private final Cluster cluster;
  private final ServerInfo server;
  private final Map<String, Duration> startPhases;
  private final boolean longRun;

  Testbed(
      Topology topology,
      RunResources run,
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

  /** Prepares the start of a topology. */
  public static Builder builder(Topology topology) {
    return new Builder(topology);
  }

  public Topology topology() {
    return topology;
  }

  /** The versions of the cluster's servers. */
  public ServerInfo server() {
    return server;
  }

  /**
   * The URL for an application on the client's host. The URL contains the mongos on that host. If
   * the host has no mongos, the URL contains every mongos within the drivers' latency window: its
   * round trip is at most 15 ms longer than the shortest round trip to a mongos.
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

  /** The durations of the phases of the start, in order. */
  public Map<String, Duration> startPhases() {
    return new LinkedHashMap<>(startPhases);
  }

  /**
   * Shards a collection and distributes it. Creates the database and the collection, splits at the
   * given points, and moves ranges until the shards own equal, contiguous shares in the topology's
   * order. Finally, checks config.chunks. Completed steps are not repeated. An existing collection
   * must have the same key. Delays are off during the call.
   *
   * @param namespace {@code database.collection}
   * @param key the shard key pattern, for example <code>{_id: 1}</code>
   * @param splitPoints lower bounds of all ranges but the first, ascending; hashed fields are
   *     int64; if empty, the server distributes the chunks
   * @throws TestbedException if a server refuses a step, or the result differs from the request
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
   * Shards a collection on a hashed key; the server distributes the chunks over the shards.
   *
   * @param key the shard key pattern, with one hashed field
   * @param numInitialChunks the initial number of chunks
   */
  public void shardHashedCollection(String namespace, BsonDocument key, int numInitialChunks) {
    withoutDelays(() -> new ShardedCollection(cluster, namespace).create(key, numInitialChunks));
  }

  /**
   * Splits the chunks of a sharded collection at the given points. Existing splits stay.
   *
   * @param points the split points, with the fields of the key
   */
  public void splitAt(String namespace, List<BsonDocument> points) {
    new ShardedCollection(cluster, namespace).splitAt(points);
  }

  /**
   * Moves the chunk that begins at {@code min} to a shard, with the usual delays, and waits until
   * the migration is done.
   *
   * @throws TestbedException if the servers refuse the migration permanently, or still refuse it
   *     after a minute of retries
   */
  public void moveRange(String namespace, BsonDocument min, String toShard) {
    new ShardedCollection(cluster, namespace).moveRange(min, null, toShard);
  }

  /** Drops a sharded collection on every shard; does nothing if there is none. */
  public void dropCollection(String namespace) {
    new ShardedCollection(cluster, namespace).drop();
  }

  /**
   * Sends some thousand reads and updates without effect through every router, without delays.
   * Later measurements then do not include a router's first, slow operations. The call takes some
   * seconds, or two minutes with {@link Builder#longRun}. It does nothing if the collection is
   * empty.
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
   * The servers' own figures about a collection.
   *
   * @param namespace {@code database.collection}
   */
  public ServerEvidence evidence(String namespace) {
    return new ServerEvidence(
        topology, cluster, run.plan().routers(), run.platform().access(), namespace);
  }

  /**
   * Measures the round trips from the client's host to every other host with a server, with single
   * pings over idle connections. Takes about 30 times the longest round trip, and a second at
   * least.
   *
   * @return the medians and the configured values
   * @throws TestbedException if a server does not reply
   */
  public RoundTrips measureRoundTrips() {
    return RoundTripMeter.measure(topology, run.plan(), run.platform().access().tls());
  }

  /**
   * Binds the servers to processors, by lists in the format of taskset(1), such as {@code 2-5}.
   * Processes that the servers start later are bound, too.
   *
   * @param routers the processors of all routers
   * @param mongods the processors of all config servers and shard members
   * @return whether all servers are bound; false for containers, and if taskset or a processor does
   *     not exist
   */
  public boolean pin(String routers, String mongods) {
    return run.pin(routers, mongods);
  }

  /**
   * Limits the processor time of each router until the router ends, as if its machine had fewer
   * processors. Works only for servers that run as processes.
   *
   * @param processors the number of processors for each router, 0.001 or more
   * @throws TestbedException if this user or machine cannot limit processes: the limit requires
   *     root and Linux control groups
   */
  public void limitRouters(double processors) {
    run.limitRouters(processors);
  }

  /**
   * The processor time that servers and links have used so far. Cheap enough for frequent calls.
   */
  public CpuTimes cpuTimes() {
    return run.cpuTimes();
  }

  /**
   * The bytes that the links have carried so far. Cheap enough for frequent calls. Empty if servers
   * are not behind links: in a topology without delays, or with existing servers.
   */
  public Traffic traffic() {
    return run.links().traffic(host -> topology.host(host).region());
  }

  /**
   * Registers a process of this machine as an application on a host other than the client's. The
   * registration applies to connections that the process opens from now on.
   *
   * @param pid the process
   * @param host name of a host of the topology
   * @throws IllegalArgumentException if there is no such host
   */
  public void place(long pid, String host) {
    run.links().callers().register(pid, ConnectionEnd.client(topology.host(host).name()));
  }

  /**
   * The present sockets and memory of each server. Empty if the servers are no processes of this
   * machine.
   */
  public List<ServerUsage> serverUsage() {
    return run.usage();
  }

  /**
   * Adds a listener for servers that end unexpectedly. The end of servers while this testbed or JVM
   * stops is not reported.
   *
   * @param listener called on another thread
   */
  public void onProcessDeath(Consumer<ProcessFailure> listener) {
    run.onProcessDeath(listener);
  }

  /**
   * Closes every connection to a server. New connections work as before.
   *
   * @param address the server, as {@code host:port}
   * @throws IllegalArgumentException if the server has no link
   */
  public void cutConnections(String address) {
    link(address).cut();
  }

  /**
   * Blocks a server, or unblocks it. Every connection to a blocked server is closed, also a new
   * connection.
   *
   * @param address the server, as {@code host:port}
   * @throws IllegalArgumentException if the server has no link
   */
  public void setBlocked(String address, boolean blocked) {
    link(address).setBlocked(blocked);
  }

  /**
   * Adds a delay to the topology's round trip to a server.
   *
   * @param address the server, as {@code host:port}
   * @param roundTrip the addition to the round trip; zero for no delay
   * @throws IllegalArgumentException if the server has no link
   */
  public void setFurther(String address, Duration roundTrip) {
    link(address).setFurther(roundTrip);
  }

  /**
   * Freezes a server (SIGSTOP), or resumes it (SIGCONT). A frozen server keeps its connections and
   * does not reply.
   *
   * @param address the server, as {@code host:port}
   * @throws IllegalArgumentException if there is no such server
   * @throws UnsupportedOperationException if servers are no processes of this machine
   */
  public void setFrozen(String address, boolean frozen) {
    run.setFrozen(address, frozen);
  }

  /**
   * Kills a server. The server keeps its data, and its end is not reported as a failure.
   *
   * @param address the server, as {@code host:port}
   * @throws IllegalArgumentException if there is no such server
   */
  public void kill(String address) {
    run.kill(address);
  }

  /**
   * Starts a killed server again with the same options, and waits until it listens.
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
        .orElseThrow(() -> new IllegalArgumentException("there is no link to " + address));
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

  /** The settings of a testbed. Not thread-safe. */
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

    /** Sets the path of the mongod. With null, the default, the testbed searches for one. */
    public Builder mongod(@Nullable Path binary) {
      this.mongod = binary;
      return this;
    }

    /**
     * Sets the path of the mongos. With null, the default, the testbed searches for one, and uses
     * the stand-in router if there is none.
     */
    public Builder mongos(@Nullable Path binary) {
      this.mongos = binary;
      return this;
    }

    /**
     * Sets the cluster's feature compatibility version, for example {@code 5.0}. With null, the
     * default, the cluster has the servers' own version. If the mongos is older than the mongod,
     * the cluster has the version of the mongos.
     */
    public Builder featureCompatibilityVersion(@Nullable String version) {
      this.featureCompatibilityVersion = version;
      return this;
    }

    /** Starts no mongos, for tests that use config servers and shards only. */
    public Builder withoutRouters() {
      this.routers = false;
      return this;
    }

    /**
     * Prepares the cluster for a measurement of many minutes. Stand-in routers, which run on a JVM,
     * use the JVM's optimizing compiler. {@link Testbed#warmUpRouters} takes one or two minutes for
     * this compiler.
     */
    public Builder longRun(boolean measuresLong) {
      this.longRun = measuresLong;
      return this;
    }

    /**
     * Makes servers accept {@code configureFailPoint}, for tests that inject errors. A stand-in
     * router accepts the fail point {@code failCommand}. Works only for servers that run as
     * processes.
     */
    public Builder failPoints() {
      this.failPoints = true;
      return this;
    }

    /**
     * Makes change streams of stand-in routers wait as long as a mongos' streams: until every shard
     * and the config servers report a later time by themselves. By default, stand-in routers make
     * idle shards write a no-op, and the shards then report a later time at once. Works only for
     * servers that run as processes.
     */
    public Builder withWaitingStreams(boolean waiting) {
      this.waitingStreams = waiting;
      return this;
    }

    /**
     * Sets the interval of an idle shard's no-op writes in seconds. Null, the default, keeps the
     * servers' own interval of ten seconds. Works only for servers that run as processes.
     */
    public Builder noopSeconds(@Nullable Integer seconds) {
      this.noopSeconds = seconds;
      return this;
    }

    /** Sets a listener that gets a line for each step of the start. */
    public Builder progress(Consumer<String> listener) {
      this.progress = listener;
      return this;
    }

    /**
     * Adds work to the start, such as sharding a collection. The testbed counts as started when the
     * work is done, also for {@link RunningTestbed}. The start fails if the work fails.
     */
    public Builder prepared(Consumer<Testbed> work) {
      this.preparation = work;
      return this;
    }

    /**
     * Uses servers that others have started and keep running. The testbed then searches for no
     * binary and adds no delays. If the servers do not form a cluster yet, the testbed forms one.
     */
    public Builder existing(ExistingServers servers) {
      return platform(options -> ExistingPlatform.prepare(options, servers));
    }

    /** Sets the platform of the servers. The default is processes of this machine. */
    Builder platform(Function<Builder, Platform> prepare) {
      this.platform = prepare;
      return this;
    }

    /** Sets the folder for downloads and runs. The default is {@code ~/.cache/onehop}. */
    public Builder cacheFolder(Path folder) {
      this.cacheFolder = folder;
      return this;
    }

    /**
     * Starts the cluster and waits until it is ready.
     *
     * @throws TestbedException if the start fails; the servers that have already started are
     *     stopped
     */
    public Testbed start() {
      return new TestbedStarter(this).start();
    }
  }
}
