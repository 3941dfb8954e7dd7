package dev.onehop.measure.frame;

import com.mongodb.ConnectionString;
import dev.onehop.measure.report.Format;
import dev.onehop.measure.results.RunFacts.Placement;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.measure.results.TopologyFacts.RoundTrips;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.ExistingCluster;
import dev.onehop.testbed.RunningTestbed;
import dev.onehop.testbed.TestbedException;
import dev.onehop.testbed.TrustedAuthority;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** A cluster of the user. A fact that its mongoses do not report to this user is unknown. */
final class UrlCluster extends BenchCluster {

  private static final String CLIENT = "here";

  /**
   * The round trip in milliseconds above which round trips limit the rate more than the processors
   * do.
   */
  private static final double FAR_MILLIS = 2;

  private final ExistingCluster cluster;
  private final Map<String, String> shardHosts = new TreeMap<>();
  private final boolean overwrite;
  private final Optional<RunningTestbed> own;
  private final Set<String> missing;

  private UrlCluster(
      ClusterUrl url,
      ExistingCluster cluster,
      Map<String, String> replicaSets,
      boolean overwrite,
      Set<String> missing) {
    super(
        url,
        measure(url, cluster, replicaSets, missing),
        ServerFacts.of(cluster.server()),
        replicaSets);
    this.cluster = cluster;
    replicaSets.forEach((shard, set) -> shardHosts.put(shard, hostOf(firstMember(set))));
    this.overwrite = overwrite;
    this.own = own(url);
    this.missing = missing;
    missing.add("the mongos of each operation, which only the shards' profilers record");
  }

  /**
   * Connects to the cluster, reads its shards once, and measures the round trips to its mongoses.
   *
   * @param overwrite whether documents in the bench's collection may be deleted
   * @throws TestbedException if the cluster can't be used
   */
  static UrlCluster of(ClusterUrl url, boolean overwrite) {
    Path authority = url.authority();
    ExistingCluster cluster =
        ExistingCluster.at(
            new ConnectionString(url.secret()),
            authority == null ? null : TrustedAuthority.read(authority));
    try {
      return new UrlCluster(url, cluster, cluster.shardHosts(), overwrite, new LinkedHashSet<>());
    } catch (RuntimeException e) {
      cluster.close();
      throw e;
    }
  }

  /** Finds the testbed of this user on this machine that runs all servers of the URL. */
  static Optional<RunningTestbed> own(ClusterUrl url) {
    return RunningTestbed.all().stream()
        .filter(RunningTestbed::isReady)
        .filter(
            testbed ->
                testbed.servers().stream()
                    .map(RunningTestbed.ServerStatus::address)
                    .collect(Collectors.toSet())
                    .containsAll(url.hosts()))
        .findFirst();
  }

  private static TopologyFacts measure(
      ClusterUrl url,
      ExistingCluster cluster,
      Map<String, String> replicaSets,
      Set<String> missing) {
    Map<String, Set<String>> roles = new LinkedHashMap<>();
    roles.put(CLIENT, new LinkedHashSet<>(List.of("client")));
    Map<String, Double> measured = new LinkedHashMap<>();
    for (String mongos : cluster.mongosAddresses()) {
      String host = hostOf(mongos);
      roles.computeIfAbsent(host, name -> new LinkedHashSet<>()).add("router");
      try {
        measured.put(
            TopologyFacts.pair(CLIENT, host), TestbedCluster.millis(cluster.roundTrip(mongos)));
      } catch (TestbedException e) {
        missing.add("the round trip to " + mongos + ", which cannot be reached from this machine");
      }
    }
    replicaSets.forEach(
        (shard, set) -> {
          String members = set.substring(set.indexOf('/') + 1);
          for (String member : members.split(",", -1)) {
            roles
                .computeIfAbsent(hostOf(member), name -> new LinkedHashSet<>())
                .add("member of " + shard);
          }
        });
    List<HostFacts> hosts = new ArrayList<>();
    roles.forEach((host, has) -> hosts.add(new HostFacts(host, "", List.copyOf(has))));
    return new TopologyFacts(
        String.join(",", url.hosts()),
        CLIENT,
        List.of(),
        new RoundTrips(Map.of(), measured),
        hosts);
  }

  private static String hostOf(String address) {
    return address.substring(0, address.lastIndexOf(':'));
  }

  @Override
  public Map<String, String> shardHosts() {
    return shardHosts;
  }

  @Override
  public boolean isFar() {
    return meanShardRoundTripMillis() >= FAR_MILLIS;
  }

  @Override
  public void shard(String collection, List<? extends BsonValue> splitPoints) {
    String namespace = namespace(collection);
    long found = cluster.count(namespace);
    if (found > 0 && !overwrite) {
      throw Failure.usage(
          "%s has %s; --overwrite deletes them, or name another database in --url"
              .formatted(namespace, Format.counted(found, "document")));
    }
    if (found > 0) {
      cluster.deleteAll(namespace);
    }
    if (cluster.isSharded(namespace)) {
      return; // if this user may not shard it, an administrator has sharded it
    }
    try {
      cluster.shardCollection(namespace, SHARD_KEY, bounds(splitPoints));
    } catch (TestbedException e) {
      throw Failure.run(
          "%s is not sharded, and cannot be sharded: %s; ask an administrator to run sh.shardCollection(\"%s\", {_id: 1})"
              .formatted(namespace, Failure.firstLine(e), namespace),
          e);
    }
  }

  @Override
  public List<String> routers() {
    return cluster.mongosAddresses();
  }

  @Override
  public void setFrozen(String server, boolean frozen) {
    own.ifPresentOrElse(
        testbed -> testbed.setFrozen(server, frozen), () -> super.setFrozen(server, frozen));
  }

  @Override
  public @Nullable Placement placement(String collection, long expected) {
    missing.add("the shard of each document, which only the shards report");
    long found = cluster.count(namespace(collection));
    if (found != expected) {
      throw Failure.run(
          "after loading, the collection has %d of %d documents".formatted(found, expected), null);
    }
    return null;
  }

  @Override
  public ServerWatch watch(String collection, double sampleRate) {
    String namespace = namespace(collection);
    try {
      return new ServerWatch(() -> cluster.operationCounts(namespace).byShard(), null, false);
    } catch (TestbedException e) {
      missing.add(
          "each shard's share of operations, and the closed-loop limit: " + Failure.firstLine(e));
      return new ServerWatch(Map::of, null, false);
    }
  }

  @Override
  public List<String> missing() {
    return List.copyOf(missing);
  }

  @Override
  public void onServerDeath(Consumer<String> listener) {
    // Only servers of this user's testbed are watched. If another server ends, the operations on it
    // fail.
    own.ifPresent(testbed -> testbed.onServerDeath(server -> listener.accept(server + " ended")));
  }

  @Override
  public void close() {
    cluster.close();
  }
}
