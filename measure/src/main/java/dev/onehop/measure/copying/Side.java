package dev.onehop.measure.copying;

import com.mongodb.ClientSessionOptions;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.testbed.MongodProcess;
import dev.onehop.testbed.ServerInfo;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/** Source or destination: its servers, each with a client of its own, by which they are asked. */
final class Side implements AutoCloseable {
  private static final BsonDocument STATUS =
      new BsonDocument("serverStatus", new BsonInt32(1))
          .append("wiredTiger", new BsonInt32(0))
          .append("tcmalloc", new BsonInt32(0));

  private static final String REGION = "here";
  private static final int OPLOG_MEBIBYTES = 4_096;

  private final String url;
  private final String urlOfOne;
  private final @Nullable Testbed testbed;
  private final AutoCloseable servers;
  private final Supplier<Duration> routersCpu;
  private final Supplier<Duration> mongodsCpu;
  private final Map<String, MongoClient> shards = new LinkedHashMap<>();
  private final Map<String, MongoClient> routers = new LinkedHashMap<>();
  private final MongoClient client;

  /**
   * What its servers have counted.
   *
   * @param returned documents that queries gave, by shard
   * @param written statements that insert, update or delete, by shard
   * @param routed statements that insert, update or delete, by router
   * @param routersCpu processor time of all routers
   * @param mongodsCpu that of all other servers
   */
  record Counts(
      Map<String, Long> returned,
      Map<String, Long> written,
      Map<String, Long> routed,
      Duration routersCpu,
      Duration mongodsCpu) {

    Counts since(Counts earlier) {
      return new Counts(
          since(returned, earlier.returned),
          since(written, earlier.written),
          since(routed, earlier.routed),
          routersCpu.minus(earlier.routersCpu),
          mongodsCpu.minus(earlier.mongodsCpu));
    }

    private static Map<String, Long> since(Map<String, Long> now, Map<String, Long> earlier) {
      Map<String, Long> since = new LinkedHashMap<>();
      now.forEach((server, count) -> since.put(server, count - earlier.getOrDefault(server, 0L)));
      return since;
    }
  }

  private Side(
      String url,
      String urlOfOne,
      @Nullable Testbed testbed,
      AutoCloseable servers,
      Supplier<Duration> routersCpu,
      Supplier<Duration> mongodsCpu) {
    this.url = url;
    this.urlOfOne = urlOfOne;
    this.testbed = testbed;
    this.servers = servers;
    this.routersCpu = routersCpu;
    this.mongodsCpu = mongodsCpu;
    this.client = MongoClients.create(url);
  }

  /** A sharded cluster; its end is this one's, too. */
  static Side of(Testbed testbed) {
    List<String> addresses = testbed.mongosAddresses();
    Side side =
        new Side(
            "mongodb://" + String.join(",", addresses) + "/",
            "mongodb://" + addresses.get(0) + "/",
            testbed,
            testbed,
            () -> Objects.requireNonNullElse(testbed.cpuTimes().routers(), Duration.ZERO),
            () -> Objects.requireNonNullElse(testbed.cpuTimes().mongods(), Duration.ZERO));
    testbed
        .shardHosts()
        .forEach((shard, hosts) -> side.shards.put(shard, direct(hosts.replaceFirst(".*/", ""))));
    addresses.forEach(address -> side.routers.put(address, direct(address)));
    // The slower way must still find all changes in them.
    side.shards
        .values()
        .forEach(
            primary ->
                run(
                    primary,
                    new BsonDocument("replSetResizeOplog", new BsonInt32(1))
                        .append("size", new BsonDouble(OPLOG_MEBIBYTES))));
    return side;
  }

  /**
   * A replica set of one member, which is started.
   *
   * @param folder for its data
   */
  static Side replicaSet(Path mongod, String name, String ip, Path folder)
      throws InterruptedException {
    String address = MongodProcess.freeAddress(ip);
    List<String> command = MongodProcess.command(mongod, name, address, folder, OPLOG_MEBIBYTES);
    MongodProcess server = MongodProcess.start(name, command, address, folder);
    try (MongoClient member = direct(address)) {
      BsonDocument config =
          BsonDocument.parse(
              "{_id: '%s', members: [{_id: 0, host: '%s'}]}".formatted(name, address));
      run(member, new BsonDocument("replSetInitiate", config));
      while (!run(member, new BsonDocument("hello", new BsonInt32(1)))
          .getBoolean("isWritablePrimary")
          .getValue()) {
        Thread.sleep(20);
      }
    } catch (InterruptedException | RuntimeException e) {
      server.close();
      throw e;
    }
    String url = "mongodb://" + address + "/?replicaSet=" + name;
    Side side =
        new Side(
            url,
            url,
            null,
            server,
            () -> Duration.ZERO,
            () ->
                ProcessHandle.of(server.pid())
                    .flatMap(process -> process.info().totalCpuDuration())
                    .orElse(Duration.ZERO));
    side.shards.put(name, direct(address));
    return side;
  }

  private static MongoClient direct(String address) {
    return MongoClients.create(
        MongoClientSettings.builder()
            .applyConnectionString(
                new ConnectionString(
                    "mongodb://" + address.replaceFirst(",.*", "") + "/?directConnection=true"))
            .build());
  }

  private static BsonDocument run(MongoClient client, BsonDocument command) {
    return client.getDatabase("admin").runCommand(command, BsonDocument.class);
  }

  /** All routers, or the replica set. */
  String url() {
    return url;
  }

  /** One router, or the replica set. */
  String urlOfOne() {
    return urlOfOne;
  }

  MongoClient client() {
    return client;
  }

  /** The primary of each shard. */
  Map<String, MongoClient> shards() {
    return shards;
  }

  /** The cluster; null for a replica set. */
  @Nullable Testbed testbed() {
    return testbed;
  }

  /** Holds each router to so many processors. */
  void limitRouters(double processors) {
    if (testbed != null) {
      testbed.limitRouters(processors);
    }
  }

  /** What runs where. */
  List<HostFacts> hosts(String side) {
    if (testbed == null) {
      return List.of(new HostFacts(side, REGION, List.of("replica set")));
    }
    List<HostFacts> hosts = new ArrayList<>();
    for (String shard : shards.keySet()) {
      List<String> roles = new ArrayList<>(List.of(shard));
      if (hosts.isEmpty()) {
        roles.add("config");
      }
      if (hosts.size() < routers.size()) {
        roles.add("router");
      }
      hosts.add(new HostFacts(side + " " + (hosts.size() + 1), REGION, roles));
    }
    return hosts;
  }

  /** Which servers run. */
  ServerFacts facts() {
    if (testbed != null) {
      ServerInfo server = testbed.server();
      return new ServerFacts(
          server.mongodVersion(),
          new ServerFacts.Router(server.router().label(), server.routerVersion()),
          server.featureCompatibilityVersion());
    }
    BsonDocument parameter =
        new BsonDocument("getParameter", new BsonInt32(1))
            .append("featureCompatibilityVersion", new BsonInt32(1));
    return new ServerFacts(
        run(client, new BsonDocument("buildInfo", new BsonInt32(1)))
            .getString("version")
            .getValue(),
        new ServerFacts.Router(ServerFacts.Router.NONE, ""),
        run(client, parameter)
            .getDocument("featureCompatibilityVersion")
            .getString("version")
            .getValue());
  }

  /** Drops all collections of a database. */
  void drop(String database) {
    for (String collection : client.getDatabase(database).listCollectionNames()) {
      if (testbed == null) {
        client.getDatabase(database).getCollection(collection).drop();
      } else {
        testbed.dropCollection(database + "." + collection);
      }
    }
  }

  /** A cluster time that has been reached. */
  BsonTimestamp now() {
    try (ClientSession session =
        client.startSession(ClientSessionOptions.builder().causallyConsistent(true).build())) {
      client.getDatabase("admin").runCommand(session, new BsonDocument("ping", new BsonInt32(1)));
      return Objects.requireNonNull(session.getOperationTime());
    }
  }

  Counts counts() {
    Map<String, Long> returned = new LinkedHashMap<>();
    Map<String, Long> written = new LinkedHashMap<>();
    shards.forEach(
        (shard, primary) -> {
          BsonDocument status = run(primary, STATUS);
          BsonDocument documents = status.getDocument("metrics").getDocument("document");
          returned.put(shard, documents.getNumber("returned").longValue());
          written.put(shard, writes(status));
        });
    Map<String, Long> routed = new LinkedHashMap<>();
    routers.forEach((router, its) -> routed.put(router, writes(run(its, STATUS))));
    return new Counts(returned, written, routed, routersCpu.get(), mongodsCpu.get());
  }

  private static long writes(BsonDocument status) {
    BsonDocument counters = status.getDocument("opcounters");
    return Stream.of("insert", "update", "delete")
        .mapToLong(kind -> counters.getNumber(kind).longValue())
        .sum();
  }

  /** Statements that write which all shards together were given. */
  long written() {
    return shards.values().stream().mapToLong(primary -> writes(run(primary, STATUS))).sum();
  }

  @Override
  public void close() {
    List<AutoCloseable> all = new ArrayList<>(shards.values());
    all.addAll(routers.values());
    all.add(client);
    all.add(servers);
    for (AutoCloseable each : all) {
      try {
        each.close();
      } catch (Exception e) {
        throw new IllegalStateException("a server can't be stopped", e);
      }
    }
  }

  /** Three shards, each with a router beside it if there are to be three. */
  static Topology topology(String name, int network, int routers) {
    return Topology.parse(
        name + ".yaml",
        """
        name: %1$s
        description: three shards, one beside the other, without any delay
        regions: [here]
        hosts:
          one: {region: here, address: 127.%2$d.0.1}
          two: {region: here, address: 127.%2$d.0.2}
          three: {region: here, address: 127.%2$d.0.3}
        roundTrips:
          here <-> here: 0
        client: one
        configServers: [one]
        shards:
          shard-1: [one]
          shard-2: [two]
          shard-3: [three]
        mongos: [%3$s]
        """
            .formatted(name, network, routers == 3 ? "one, two, three" : "one"));
  }
}
