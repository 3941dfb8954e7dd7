package dev.onehop.measure.frame;

import dev.onehop.measure.results.RoundTripCheck;
import dev.onehop.measure.results.RunFacts.Placement;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.measure.results.TopologyFacts.RoundTrips;
import dev.onehop.resync.ClusterUrl;
import dev.onehop.resync.Failure;
import dev.onehop.testbed.ServerInfo;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.evidence.CpuTimes;
import dev.onehop.testbed.evidence.ServerEvidence;
import dev.onehop.testbed.evidence.ServerUsage;
import dev.onehop.testbed.evidence.Traffic;
import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.Shard;
import dev.onehop.testbed.topology.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** A testbed as a bench's cluster. */
final class TestbedCluster implements BenchCluster {

  private static final BsonDocument SHARD_KEY = new BsonDocument("_id", new BsonInt32(1));

  /** Each series takes at least a second. */
  private static final int MOST_SERIES = 10;

  private final Testbed testbed;
  private final ClusterUrl url;
  private final TopologyFacts topology;
  private final ServerFacts server;

  private TestbedCluster(
      Testbed testbed, ClusterUrl url, TopologyFacts topology, ServerFacts server) {
    this.testbed = testbed;
    this.url = url;
    this.topology = topology;
    this.server = server;
  }

  /**
   * Takes a running testbed and measures its round trips. Measures again if they are not as
   * configured, because servers may still be busy after their start. The shortest of several series
   * counts, because busy processors only make round trips longer.
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
    ServerInfo info = testbed.server();
    return new TestbedCluster(
        testbed,
        // The write concern of YCSB's default URL.
        access.apply(ClusterUrl.open(testbed.url() + "/" + ClusterUrl.DATABASE + "?w=1")),
        topology,
        new ServerFacts(
            info.mongodVersion(),
            new ServerFacts.Router(info.router().label(), info.routerVersion()),
            info.featureCompatibilityVersion()));
  }

  /** Replaces round trips that are shorter in another series. */
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
  public TopologyFacts topology() {
    return topology;
  }

  @Override
  public ServerFacts server() {
    return server;
  }

  @Override
  public ClusterUrl url() {
    return url;
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
    testbed.dropCollection(ClusterUrl.DATABASE + "." + collection);
    testbed.shardCollection(
        ClusterUrl.DATABASE + "." + collection,
        SHARD_KEY,
        splitPoints.stream().map(id -> new BsonDocument("_id", id)).toList());
  }

  @Override
  public void warmUp(String collection) {
    testbed.warmUpRouters(ClusterUrl.DATABASE + "." + collection);
  }

  @Override
  public Placement placement(String collection, long expected) {
    dev.onehop.testbed.evidence.Placement seen = evidence(collection).placement();
    if (seen.misplaced() > 0 || seen.documents() != expected) {
      throw Failure.run(
          "after loading, the collection has %d of %d documents, %d of them not on their owner: %s"
              .formatted(seen.documents(), expected, seen.misplaced(), seen.stored()),
          null);
    }
    return new Placement(seen.stored(), seen.misplaced());
  }

  @Override
  public Watch watch(String collection, double sampleRate) {
    ServerEvidence evidence = evidence(collection);
    return new ServerWatch(
        evidence::operationCounts, evidence.sampleRouters(sampleRate), sampleRate == 1);
  }

  @Override
  public String primaryOf(String shard) {
    String members = Objects.requireNonNull(testbed.shardHosts().get(shard), shard);
    return members.substring(members.indexOf('/') + 1).split(",", -1)[0];
  }

  @Override
  public List<String> routers() {
    return testbed.topology().mongosHostsByDistance().stream()
        .map(host -> host.address() + ":" + Topology.MONGOS_PORT)
        .toList();
  }

  @Override
  public void setFrozen(String server, boolean frozen) {
    change("freeze", server, () -> testbed.setFrozen(server, frozen));
  }

  @Override
  public void setFurther(String server, Duration roundTrip) {
    change("slow down", server, () -> testbed.setFurther(server, roundTrip));
  }

  @Override
  public void setCutOff(String server, boolean cutOff) {
    change("cut off", server, () -> testbed.setBlocked(server, cutOff));
  }

  @Override
  public void setKilled(String server, boolean killed) {
    change(
        killed ? "kill" : "restart",
        server,
        () -> {
          if (killed) {
            testbed.kill(server);
          } else {
            testbed.restart(server);
          }
        });
  }

  @Override
  public Traffic traffic() {
    return testbed.traffic();
  }

  @Override
  public Map<String, List<String>> zones() {
    Map<String, List<String>> zones = new LinkedHashMap<>();
    for (Host host : testbed.topology().hosts()) {
      zones.computeIfAbsent(host.region(), region -> new ArrayList<>()).add(host.address());
    }
    return zones;
  }

  @Override
  public String application(String zone) {
    Topology where = testbed.topology();
    if (where.client().region().equals(zone)) {
      return where.client().name();
    }
    List<Host> inZone = where.hosts().stream().filter(host -> host.region().equals(zone)).toList();
    return inZone.stream()
        .filter(host -> roles(where, host).isEmpty())
        .findFirst()
        .orElse(inZone.get(0))
        .name();
  }

  @Override
  public void place(long pid, String host) {
    testbed.place(pid, host);
  }

  private static void change(String what, String server, Runnable change) {
    try {
      change.run();
    } catch (UnsupportedOperationException | IllegalArgumentException e) {
      throw Failure.run("cannot " + what + " " + server + ": " + e.getMessage(), e);
    }
  }

  @Override
  public List<String> missing() {
    return List.of();
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
  public List<ServerUsage> serverUsage() {
    return testbed.serverUsage();
  }

  @Override
  public @Nullable Long linkBytes() {
    Traffic traffic = testbed.traffic();
    return traffic.bytes().isEmpty() ? null : traffic.sum(Traffic.Flow::isOfOperations);
  }

  private ServerEvidence evidence(String collection) {
    return testbed.evidence(ClusterUrl.DATABASE + "." + collection);
  }
}
