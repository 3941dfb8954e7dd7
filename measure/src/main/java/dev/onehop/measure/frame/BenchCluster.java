package dev.onehop.measure.frame;

import dev.onehop.measure.results.RunFacts.Placement;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.evidence.CpuTimes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** The running cluster that a bench measures, with the operations that benches need. */
public abstract class BenchCluster implements AutoCloseable {

  static final BsonDocument SHARD_KEY = new BsonDocument("_id", new BsonInt32(1));

  private final ClusterUrl url;
  private final TopologyFacts topology;
  private final ServerFacts server;
  private final Map<String, String> replicaSets;

  /**
   * Creates a cluster.
   *
   * @param replicaSets the members of each shard, as {@code name/host:port,host:port}, by the
   *     shard's name
   */
  protected BenchCluster(
      ClusterUrl url, TopologyFacts topology, ServerFacts server, Map<String, String> replicaSets) {
    this.url = url;
    this.topology = topology;
    this.server = server;
    this.replicaSets = replicaSets;
  }

  /** The hosts and their regions, with measured round trips. */
  public final TopologyFacts topology() {
    return topology;
  }

  public final ServerFacts server() {
    return server;
  }

  /** The URL of the routers that an application on this host uses, with the database. */
  public final ClusterUrl url() {
    return url;
  }

  /** Whether round trips limit the rate more than the processors do. */
  public abstract boolean isFar();

  /**
   * The host of each shard's primary, by the shard's name; a shard without a known host is missing.
   */
  public abstract Map<String, String> shardHosts();

  /** The measured round trip from the client to each shard's primary, in milliseconds. */
  public Map<String, Double> shardRoundTrips() {
    Map<String, Double> roundTrips = new HashMap<>();
    shardHosts()
        .forEach(
            (shard, host) -> {
              Double measured = topology.measuredFromClient(host);
              if (measured != null) {
                roundTrips.put(shard, measured);
              } else if (host.equals(topology.client())) {
                roundTrips.put(shard, 0.0);
              }
            });
    return roundTrips;
  }

  /** The mean of {@link #shardRoundTrips}, in milliseconds. Each shard has the same weight. */
  public double meanShardRoundTripMillis() {
    return shardRoundTrips().values().stream().mapToDouble(Double::doubleValue).average().orElse(0);
  }

  /** Shards a collection of the bench's database on {@code {_id: 1}}, split at these ids. */
  public abstract void shard(String collection, List<? extends BsonValue> splitPoints);

  /** The full name of a collection of the bench's database. */
  final String namespace(String collection) {
    return url.database() + "." + collection;
  }

  static List<BsonDocument> bounds(List<? extends BsonValue> splitPoints) {
    return splitPoints.stream().map(id -> new BsonDocument("_id", id)).toList();
  }

  /** Warms up routers that the bench has started, with operations that change nothing. */
  public void warmUp(String collection) {}

  /**
   * Checks that each document is on the shard that owns it according to the metadata.
   *
   * @param expected the expected number of documents
   * @return the placement; null if the shards cannot be reached
   * @throws dev.onehop.resync.Failure if the number of documents differs, or a document is not on
   *     its owner
   */
  public abstract @Nullable Placement placement(String collection, long expected);

  /**
   * Starts to collect the servers' own figures about a collection's operations: the shards that
   * execute them, and the routers that send them.
   *
   * @param sampleRate the fraction of operations to sample, above 0 and up to 1
   */
  public abstract ServerWatch watch(String collection, double sampleRate);

  /** The address of a shard's first member, as {@code host:port}. */
  public String primaryOf(String shard) {
    return firstMember(Objects.requireNonNull(replicaSets.get(shard), shard));
  }

  /** The address of the first member of {@code name/host:port,host:port}. */
  public static String firstMember(String replicaSet) {
    return replicaSet.substring(replicaSet.indexOf('/') + 1).split(",", -1)[0];
  }

  /** The addresses of all mongoses as {@code host:port}, the nearest first. */
  public abstract List<String> routers();

  /** Returns a URL with all mongoses, the database and the write concern, without a user. */
  public String allRoutersUrl() {
    return "mongodb://" + String.join(",", routers()) + "/" + ClusterUrl.DATABASE + "?w=1";
  }

  /**
   * Freezes a server, or resumes it.
   *
   * @throws Failure if the bench may not change this cluster
   */
  public void setFrozen(String server, boolean frozen) {
    testbed().setFrozen(server, frozen);
  }

  /**
   * The testbed of the servers that the bench has started and may change.
   *
   * @throws Failure if the bench has not started the servers
   */
  public Testbed testbed() {
    throw Failure.run("the bench does not change servers that it has not started", null);
  }

  /**
   * The processor time that servers and links have used so far; unknown for servers on other
   * machines.
   */
  public CpuTimes cpuTimes() {
    return new CpuTimes(null, null, null);
  }

  /**
   * The bytes of operations and their replies that have passed through the links so far, in both
   * directions. Null without links.
   */
  public @Nullable Long linkBytes() {
    return null;
  }

  /**
   * Binds client and servers to processors by their role, if there are enough processors. Returns
   * null if the servers are on other machines.
   */
  public @Nullable Processors processors() {
    return null;
  }

  /** The facts that are unknown, each with the reason; empty if there are none. */
  public List<String> missing() {
    return List.of();
  }

  /**
   * Adds a listener, which is called once if this object detects the unexpected end of a server.
   */
  public abstract void onServerDeath(Consumer<String> listener);

  /** Ends the servers that were started for the bench. */
  @Override
  public abstract void close();
}
