package dev.onehop.cli.bench;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.Projections;
import dev.onehop.cli.Failure;
import dev.onehop.cli.cluster.ClusterMetadata;
import dev.onehop.cli.results.RunFacts.Placement;
import dev.onehop.cli.results.ServerFacts;
import dev.onehop.cli.results.TopologyFacts;
import dev.onehop.cli.results.TopologyFacts.HostFacts;
import dev.onehop.cli.results.TopologyFacts.RoundTrips;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.testbed.Host;
import dev.onehop.testbed.ServerInfo;
import dev.onehop.testbed.Shard;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.Topology;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;

/** A testbed as the bench sees it. */
final class TestbedCluster implements Cluster {

  static final String DATABASE = "ycsb";

  private static final BsonDocument SHARD_KEY = new BsonDocument("_id", new BsonInt32(1));

  /** Enough to tell a fraction to a percent or so in seconds, few enough not to be felt. */
  private static final double PROFILED_PER_SECOND = 200;

  private final Testbed testbed;
  private final TopologyFacts topology;
  private final ServerFacts server;
  private final Map<String, ShardWitness> witnesses = new TreeMap<>();

  private TestbedCluster(Testbed testbed, TopologyFacts topology, ServerFacts server) {
    this.testbed = testbed;
    this.topology = topology;
    this.server = server;
  }

  /**
   * Takes a running testbed and measures its round trips; again, if they are not as configured, as
   * servers that have just started may still be busy.
   */
  static TestbedCluster of(Testbed testbed) {
    TopologyFacts topology = measure(testbed);
    for (int again = 0; again < 3 && !RoundTripCheck.violations(topology).isEmpty(); again++) {
      topology = measure(testbed);
    }
    ServerInfo info = testbed.server();
    return new TestbedCluster(
        testbed,
        topology,
        new ServerFacts(
            info.mongodVersion(),
            new ServerFacts.Router(info.router().label(), info.routerVersion()),
            info.featureCompatibilityVersion()));
  }

  private static TopologyFacts measure(Testbed testbed) {
    return facts(testbed.topology(), testbed.measureRoundTrips().measured());
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
        roles.add((primary ? "shard " : "secondary of ") + shard.name());
      }
    }
    return roles;
  }

  private static double millis(Duration duration) {
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
  public String url() {
    // Write concern as in YCSB's own default URL.
    return testbed.url() + "/" + DATABASE + "?w=1";
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
  public void shard(String collection, List<String> splitPoints) {
    testbed.shardCollection(
        DATABASE + "." + collection,
        SHARD_KEY,
        splitPoints.stream().map(id -> new BsonDocument("_id", new BsonString(id))).toList());
  }

  @Override
  public Placement placement(String collection) {
    RoutingTable table;
    try (MongoClient config = MongoClients.create(replicaSetUrl(testbed.configServers()))) {
      table =
          new ClusterMetadata(config)
              .routingTable(DATABASE + "." + collection)
              .orElseThrow(() -> Failure.run("the config server knows no " + collection, null));
    }
    Map<String, Long> documents = new TreeMap<>();
    long misplaced = 0;
    for (Map.Entry<String, String> shard : testbed.shardHosts().entrySet()) {
      long here = 0;
      // Not by way of a router: a shard itself shows orphans too.
      try (MongoClient client = MongoClients.create(replicaSetUrl(shard.getValue()));
          MongoCursor<BsonDocument> ids =
              client
                  .getDatabase(DATABASE)
                  .getCollection(collection, BsonDocument.class)
                  .find()
                  .projection(Projections.include("_id"))
                  .batchSize(100_000)
                  .cursor()) {
        while (ids.hasNext()) {
          here++;
          String owner = table.shardOf(table.shardKeyPattern().keyOf(ids.next()));
          misplaced += owner.equals(shard.getKey()) ? 0 : 1;
        }
      }
      documents.put(shard.getKey(), here);
    }
    return new Placement(documents, misplaced);
  }

  private static String replicaSetUrl(String nameAndMembers) {
    int slash = nameAndMembers.indexOf('/');
    return "mongodb://"
        + nameAndMembers.substring(slash + 1)
        + "/?replicaSet="
        + nameAndMembers.substring(0, slash);
  }

  @Override
  public Watch watch(String collection, double expectedPerSecond) {
    Topology layout = testbed.topology();
    Map<String, String> addresses = new TreeMap<>();
    layout.shards().forEach(shard -> addresses.put(shard.name(), shard.hosts().get(0).address()));
    double sampleRate = Math.min(1, PROFILED_PER_SECOND / expectedPerSecond);
    return new ServerWatch(witnesses(), addresses, collection, sampleRate);
  }

  private synchronized Map<String, ShardWitness> witnesses() {
    if (witnesses.isEmpty()) {
      testbed
          .shardHosts()
          .forEach(
              (shard, members) ->
                  witnesses.put(shard, new ShardWitness(replicaSetUrl(members), DATABASE)));
    }
    return witnesses;
  }

  /** Ends its own connections; the testbed is its owner's to close. */
  @Override
  public synchronized void close() {
    witnesses.values().forEach(ShardWitness::close);
    witnesses.clear();
  }
}
