package dev.onehop.measure.frame;

import dev.onehop.measure.results.RoundTripCheck;
import dev.onehop.measure.results.RunFacts.Placement;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.measure.results.TopologyFacts.RoundTrips;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.evidence.CpuTimes;
import dev.onehop.testbed.evidence.ServerEvidence;
import dev.onehop.testbed.evidence.Traffic;
import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.Shard;
import dev.onehop.testbed.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** A testbed as the cluster of a bench. */
final class TestbedCluster extends BenchCluster {

  /** The largest number of series of round trips. A series takes at least one second. */
  private static final int MOST_SERIES = 10;

  private final Testbed testbed;

  private TestbedCluster(Testbed testbed, ClusterUrl url, TopologyFacts topology) {
    super(url, topology, ServerFacts.of(testbed.server()), testbed.shardHosts());
    this.testbed = testbed;
  }

  /**
   * Creates the cluster of a running testbed and measures its round trips. It measures again if the
   * round trips differ from the configured round trips, because servers may still be busy after
   * their start. The shortest result counts, because busy processors only make round trips longer.
   *
   * @param access adds an application's credentials
   */
  static TestbedCluster of(Testbed testbed, Function<ClusterUrl, ClusterUrl> access) {
    Map<String, Duration> measured = new LinkedHashMap<>(testbed.measureRoundTrips().measured());
    TopologyFacts topology = facts(testbed.topology(), measured);
    for (int i = 1; i < MOST_SERIES && !RoundTripCheck.violations(topology).isEmpty(); i++) {
      shorten(measured, testbed.measureRoundTrips().measured());
      topology = facts(testbed.topology(), measured);
    }
    return new TestbedCluster(
        testbed,
        // YCSB's default URL has this write concern.
        access.apply(ClusterUrl.open(testbed.url() + "/" + ClusterUrl.DATABASE + "?w=1")),
        topology);
  }

  /** Replaces each round trip in {@code measured} that is shorter in {@code again}. */
  static void shorten(Map<String, Duration> measured, Map<String, Duration> again) {
    again.forEach(
        (host, time) ->
            measured.merge(host, time, (one, other) -> one.compareTo(other) < 0 ? one : other));
  }

  static TopologyFacts facts(Topology topology, Map<String, Duration> measured) {
    String client = topology.client().name();
    Map<String, Double> configured = new LinkedHashMap<>();
    for (Host from : topology.hosts()) {
      for (Host to : topology.hosts()) {
        if (!from.equals(to)) {
          configured.put(
              TopologyFacts.pair(from.name(), to.name()), millis(topology.roundTrip(from, to)));
        }
      }
    }
    Map<String, Double> fromClient = new LinkedHashMap<>();
    measured.forEach(
        (host, roundTrip) -> fromClient.put(TopologyFacts.pair(client, host), millis(roundTrip)));
    return new TopologyFacts(
        topology.name(),
        client,
        topology.regions(),
        new RoundTrips(configured, fromClient),
        topology.hosts().stream()
            .map(host -> new HostFacts(host.name(), host.region(), roles(topology, host)))
            .toList());
  }

  private static List<String> roles(Topology topology, Host host) {
    List<String> roles = new ArrayList<>();
    if (host.equals(topology.client())) {
      roles.add("client");
    }
    if (topology.configServers().contains(host)) {
      roles.add("config");
    }
    if (topology.mongosHosts().contains(host)) {
      roles.add("router");
    }
    for (Shard shard : topology.shards()) {
      if (shard.hosts().contains(host)) {
        boolean primary = shard.hosts().get(0).equals(host);
        String name = shard.name().startsWith("shard") ? shard.name() : "shard " + shard.name();
        roles.add((primary ? "" : "secondary of ") + name);
      }
    }
    return roles;
  }

  static double millis(Duration duration) {
    return Math.round(duration.toNanos() / 1e3) / 1e3;
  }

  @Override
  public boolean isFar() {
    return testbed.topology().hasDelays();
  }

  @Override
  public Map<String, String> shardHosts() {
    Map<String, String> hosts = new TreeMap<>();
    for (Shard shard : testbed.topology().shards()) {
      hosts.put(shard.name(), shard.hosts().get(0).name());
    }
    return hosts;
  }

  @Override
  public void shard(String collection, List<? extends BsonValue> splitPoints) {
    // Existing servers may have documents of an earlier bench.
    testbed.dropCollection(namespace(collection));
    testbed.shardCollection(namespace(collection), SHARD_KEY, bounds(splitPoints));
  }

  @Override
  public void warmUp(String collection) {
    testbed.warmUpRouters(namespace(collection));
  }

  @Override
  public Placement placement(String collection, long expected) {
    dev.onehop.testbed.evidence.Placement seen = evidence(collection).placement();
    if (seen.misplaced() > 0 || seen.documents() != expected) {
      throw Failure.run(
          "after loading, the collection has %d of %d documents; %d documents are not on their owner: %s"
              .formatted(seen.documents(), expected, seen.misplaced(), seen.stored()),
          null);
    }
    return new Placement(seen.stored(), seen.misplaced());
  }

  @Override
  public ServerWatch watch(String collection, double sampleRate) {
    ServerEvidence evidence = evidence(collection);
    return new ServerWatch(
        () -> evidence.operationCounts().byShard(),
        evidence.sampleRouters(sampleRate),
        sampleRate == 1);
  }

  @Override
  public Testbed testbed() {
    return testbed;
  }

  @Override
  public List<String> routers() {
    return testbed.topology().mongosHostsByDistance().stream()
        .map(host -> host.address() + ":" + Topology.MONGOS_PORT)
        .toList();
  }

  @Override
  public void onServerDeath(Consumer<String> listener) {
    testbed.onProcessDeath(failure -> listener.accept(failure.describe()));
  }

  @Override
  public void close() {
    testbed.close();
  }

  @Override
  public CpuTimes cpuTimes() {
    return testbed.cpuTimes();
  }

  @Override
  public Processors processors() {
    return Processors.divide(Runtime.getRuntime().availableProcessors(), testbed::pin);
  }

  @Override
  public @Nullable Long linkBytes() {
    Traffic traffic = testbed.traffic();
    return traffic.bytes().isEmpty() ? null : traffic.sum(Traffic.Flow::isOfOperations);
  }

  private ServerEvidence evidence(String collection) {
    return testbed.evidence(namespace(collection));
  }
}
