package dev.onehop.measure.frame;

import dev.onehop.measure.results.Evidence;
import dev.onehop.measure.results.RunFacts.Placement;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.evidence.CpuTimes;
import dev.onehop.testbed.evidence.ServerUsage;
import dev.onehop.testbed.evidence.Traffic;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** The running cluster that a bench measures, with the operations that benches need. */
public interface BenchCluster extends AutoCloseable {

  /** The hosts and their places, with measured round trips. */
  TopologyFacts topology();

  ServerFacts server();

  /** The URL of the routers that an application on this host uses, with the database. */
  ClusterUrl url();

  /** Whether distances limit the rate, rather than processors. */
  boolean isFar();

  /** The host of each shard's primary, if known. */
  Map<String, String> shardHosts();

  /** The measured round trip from the client to each shard's primary, in milliseconds. */
  default Map<String, Double> shardRoundTrips() {
    TopologyFacts topology = topology();
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

  /** The mean of {@link #shardRoundTrips}, in milliseconds; each shard has the same weight. */
  default double meanShardRoundTripMillis() {
    return shardRoundTrips().values().stream().mapToDouble(Double::doubleValue).average().orElse(0);
  }

  /** Shards a collection of the bench's database on {@code {_id: 1}}, split at these ids. */
  void shard(String collection, List<? extends BsonValue> splitPoints);

  /** Warms up the routers with operations that change nothing. */
  void warmUp(String collection);

  /**
   * Compares each shard's documents with the config servers' owners.
   *
   * @param expected the expected number of documents
   * @return null if the shards cannot be reached
   * @throws dev.onehop.resync.Failure if the number differs, or documents are not on their owners
   */
  @Nullable Placement placement(String collection, long expected);

  /**
   * Starts to collect the servers' own figures about who serves a collection's operations.
   *
   * @param sampleRate the fraction of operations to sample, above 0 and up to 1
   */
  Watch watch(String collection, double sampleRate);

  /** The address of a shard's first member, as {@code host:port}. */
  default String primaryOf(String shard) {
    throw notOurs();
  }

  /** The addresses of all mongoses as {@code host:port}, the nearest first. */
  default List<String> routers() {
    throw notOurs();
  }

  /** A URL with all mongoses, the database and the write concern; without a user. */
  default String allRoutersUrl() {
    return "mongodb://" + String.join(",", routers()) + "/" + ClusterUrl.DATABASE + "?w=1";
  }

  /**
   * Freezes a server, or resumes it.
   *
   * @throws dev.onehop.resync.Failure if this cluster does not support it
   */
  default void setFrozen(String server, boolean frozen) {
    throw notOurs();
  }

  /**
   * Adds a delay to the round trip to a server.
   *
   * @throws dev.onehop.resync.Failure if this cluster does not support it
   */
  default void setFurther(String server, Duration roundTrip) {
    throw notOurs();
  }

  /**
   * Closes connections to a server and refuses new ones, or allows them again.
   *
   * @throws dev.onehop.resync.Failure if this cluster does not support it
   */
  default void setCutOff(String server, boolean cutOff) {
    throw notOurs();
  }

  /**
   * Kills a server, or starts it again.
   *
   * @throws dev.onehop.resync.Failure if this cluster does not support it
   */
  default void setKilled(String server, boolean killed) {
    throw notOurs();
  }

  /** The bytes that the links have carried so far. */
  default Traffic traffic() {
    throw notOurs();
  }

  /** The servers' and applications' addresses by zone, in the topology's order. */
  default Map<String, List<String>> zones() {
    throw notOurs();
  }

  /** The host of an application in a zone: one without a server, if there is one. */
  default String application(String zone) {
    throw notOurs();
  }

  /** Registers a process as an application on a host other than the client's. */
  default void place(long pid, String host) {
    throw notOurs();
  }

  private static Failure notOurs() {
    return Failure.run("the bench does not change servers that it has not started", null);
  }

  /** The processor time that servers and links have used so far. */
  CpuTimes cpuTimes();

  /** The present resource use of each server; empty if unknown. */
  default List<ServerUsage> serverUsage() {
    return List.of();
  }

  /**
   * The bytes of operations and their replies that links have carried so far, in both directions;
   * null without links.
   */
  default @Nullable Long linkBytes() {
    return null;
  }

  /**
   * Binds client and servers to processors by their role, if there are enough; null if the servers
   * are elsewhere.
   */
  default @Nullable Processors processors() {
    return null;
  }

  /** Facts that could not be found out, with the reason; empty if there are none. */
  List<String> missing();

  /** Adds a listener that is called once if a server ends unexpectedly and the cluster notices. */
  void onServerDeath(Consumer<String> listener);

  /** Ends the servers that were started. */
  @Override
  void close();

  /** A running collection of figures. */
  interface Watch extends AutoCloseable {

    /**
     * Ends the collection and returns the figures between two moments.
     *
     * @param fromNanos start of the window, by {@link System#nanoTime}
     * @param toNanos end of the window
     */
    Evidence evidence(long fromNanos, long toNanos);

    /** Ends the collection without a result. */
    @Override
    void close();
  }
}
