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

/** The running cluster that a bench measures: what benches need of the testbed. */
public interface BenchCluster extends AutoCloseable {

  /** Where things stand, round trips measured. */
  TopologyFacts topology();

  ServerFacts server();

  /** The routers that an application here would use, database included. */
  ClusterUrl url();

  /** Whether distances limit the rate, rather than processors. */
  boolean isFar();

  /** The host of each shard's primary, as far as it is known. */
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

  /** The mean of {@link #shardRoundTrips}, in milliseconds; each shard counts the same. */
  default double meanShardRoundTripMillis() {
    return shardRoundTrips().values().stream().mapToDouble(Double::doubleValue).average().orElse(0);
  }

  /** Shards a collection of the bench's database on {@code {_id: 1}}, split at these ids. */
  void shard(String collection, List<? extends BsonValue> splitPoints);

  /** Makes the routers as quick as they are after a while, with operations that change nothing. */
  void warmUp(String collection);

  /**
   * Asks each shard for its documents and the config server for who owns them.
   *
   * @param expected how many documents there should be
   * @return null where shards can't be asked
   * @throws dev.onehop.resync.Failure if there are others, or not all of them on their owners
   */
  @Nullable Placement placement(String collection, long expected);

  /**
   * Begins to collect the servers' evidence of who serves a collection's operations.
   *
   * @param sampleRate the fraction of operations to look at closely, above 0 and up to 1
   */
  Watch watch(String collection, double sampleRate);

  /** A shard's first member, as {@code host:port}. */
  default String primaryOf(String shard) {
    throw notOurs();
  }

  /** Every mongos as {@code host:port}, the nearest first. */
  default List<String> routers() {
    throw notOurs();
  }

  /** A URL that names every mongos, database and write concern included; without a user. */
  default String allRoutersUrl() {
    return "mongodb://" + String.join(",", routers()) + "/" + ClusterUrl.DATABASE + "?w=1";
  }

  /**
   * Stops a server where it is, or lets it go on.
   *
   * @throws dev.onehop.resync.Failure if that can't be done from here
   */
  default void setFrozen(String server, boolean frozen) {
    throw notOurs();
  }

  /**
   * Makes the way to a server longer.
   *
   * @throws dev.onehop.resync.Failure if that can't be done from here
   */
  default void setFurther(String server, Duration roundTrip) {
    throw notOurs();
  }

  /**
   * Breaks connections to a server and refuses new ones, or lets them be.
   *
   * @throws dev.onehop.resync.Failure if that can't be done from here
   */
  default void setCutOff(String server, boolean cutOff) {
    throw notOurs();
  }

  /**
   * Ends a server, or starts it again.
   *
   * @throws dev.onehop.resync.Failure if that can't be done from here
   */
  default void setKilled(String server, boolean killed) {
    throw notOurs();
  }

  /** What the links have carried so far. */
  default Traffic traffic() {
    throw notOurs();
  }

  /** The servers' and applications' addresses by zone, in the topology's order. */
  default Map<String, List<String>> zones() {
    throw notOurs();
  }

  /** The host on which an application runs in a zone: one without a server, if there is one. */
  default String application(String zone) {
    throw notOurs();
  }

  /** Says that a process runs on a host, in place of the client's. */
  default void place(long pid, String host) {
    throw notOurs();
  }

  private static Failure notOurs() {
    return Failure.run("nothing is done to servers that the bench has not started", null);
  }

  /** The processor time that servers and links have used so far. */
  CpuTimes cpuTimes();

  /** What each server occupies at present; empty where that can't be told. */
  default List<ServerUsage> serverUsage() {
    return List.of();
  }

  /**
   * Bytes of operations and their answers that links have carried so far, both ways; null where
   * there are no links.
   */
  default @Nullable Long linkBytes() {
    return null;
  }

  /**
   * Keeps client and servers to processors by their role, where there are enough; null if the
   * servers are elsewhere.
   */
  default @Nullable Processors processors() {
    return null;
  }

  /** What could not be found out, and why; empty if all could. */
  List<String> missing();

  /** Is told once of a server that ends by itself, where that is noticed. */
  void onServerDeath(Consumer<String> listener);

  /** Ends what was started. */
  @Override
  void close();

  /** Evidence being collected. */
  interface Watch extends AutoCloseable {

    /**
     * Ends collecting and says what was seen between two moments.
     *
     * @param fromNanos start of the window, by {@link System#nanoTime}
     * @param toNanos end of the window
     */
    Evidence evidence(long fromNanos, long toNanos);

    /** Ends collecting without asking. */
    @Override
    void close();
  }
}
