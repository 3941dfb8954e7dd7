package dev.onehop.measure.copying;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.testbed.MongodProcess;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.evidence.CpuTimes;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * A source or a destination: its servers, with a client for each server.
 *
 * @param url the URL of all routers, or of the replica set
 * @param urlOfOne the URL of one router, or of the replica set
 * @param testbed the testbed of a cluster, closed with this object; null for a replica set
 * @param process the replica set's member, closed with this object; null for a testbed
 * @param client a client of {@code url}
 * @param shards a client of each shard's primary, by the shard's name
 * @param routers a client of each router, by its address
 */
record CopyEnd(
    String url,
    String urlOfOne,
    @Nullable Testbed testbed,
    @Nullable MongodProcess process,
    MongoClient client,
    Map<String, MongoClient> shards,
    Map<String, MongoClient> routers)
    implements AutoCloseable {
  private static final Document STATUS =
      new Document("serverStatus", 1).append("wiredTiger", 0).append("tcmalloc", 0);

  private static final List<String> DOCUMENTS_RETURNED = List.of("metrics", "document", "returned");
  private static final String REGION = "here";

  /** The processor time so far of all routers, and of all other servers. */
  record Cpu(Duration routers, Duration mongods) {}

  /**
   * Counters of the servers.
   *
   * @param returned documents that queries returned, by shard
   * @param written inserts, updates and deletes, by shard
   * @param routed inserts, updates and deletes, by router
   */
  record Counts(
      Map<String, Long> returned, Map<String, Long> written, Map<String, Long> routed, Cpu cpu) {

    Counts since(Counts earlier) {
      return new Counts(
          since(returned, earlier.returned),
          since(written, earlier.written),
          since(routed, earlier.routed),
          new Cpu(cpu.routers.minus(earlier.cpu.routers), cpu.mongods.minus(earlier.cpu.mongods)));
    }

    private static Map<String, Long> since(Map<String, Long> now, Map<String, Long> earlier) {
      Map<String, Long> since = new LinkedHashMap<>();
      now.forEach((server, count) -> since.put(server, count - earlier.getOrDefault(server, 0L)));
      return since;
    }
  }

  /** Connects to servers, without clients of single servers. */
  CopyEnd(String url, String urlOfOne, @Nullable Testbed testbed, @Nullable MongodProcess process) {
    this(
        url,
        urlOfOne,
        testbed,
        process,
        MongoClients.create(url),
        new LinkedHashMap<>(),
        new LinkedHashMap<>());
  }

  /** Connects to a cluster, which closes with this object. */
  static CopyEnd of(Testbed testbed) {
    List<String> addresses = testbed.mongosAddresses();
    CopyEnd end =
        new CopyEnd(
            "mongodb://" + String.join(",", addresses) + "/",
            "mongodb://" + addresses.get(0) + "/",
            testbed,
            null);
    testbed
        .shardHosts()
        .forEach((shard, set) -> end.shards.put(shard, direct(BenchCluster.firstMember(set))));
    addresses.forEach(address -> end.routers.put(address, direct(address)));
    return end;
  }

  /** Connects to a replica set of one member, which closes with this object. */
  static CopyEnd of(MongodProcess process, String set, String address) {
    String url = "mongodb://" + address + "/?replicaSet=" + set;
    CopyEnd end = new CopyEnd(url, url, null, process);
    end.shards.put(set, direct(address));
    return end;
  }

  /** Creates a client of one server. */
  static MongoClient direct(String address) {
    return MongoClients.create("mongodb://" + address + "/?directConnection=true");
  }

  /** Runs a command on the database {@code admin}. */
  static Document run(MongoClient client, Document command) {
    return client.getDatabase("admin").runCommand(command);
  }

  /** Limits each router to a number of processors. */
  void limitRouters(double processors) {
    if (testbed != null) {
      testbed.limitRouters(processors);
    }
  }

  /** The hosts with their servers. */
  List<HostFacts> hosts(String end) {
    if (testbed == null) {
      return List.of(new HostFacts(end, REGION, List.of("replica set")));
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
      hosts.add(new HostFacts(end + " " + (hosts.size() + 1), REGION, roles));
    }
    return hosts;
  }

  /** The versions of the servers. */
  ServerFacts facts() {
    return testbed == null ? ServerFacts.of(client) : ServerFacts.of(testbed.server());
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

  /** Returns a cluster time that the cluster has reached. */
  BsonTimestamp now() {
    try (ClientSession session =
        client.startSession(ClientSessionOptions.builder().causallyConsistent(true).build())) {
      client.getDatabase("admin").runCommand(session, new Document("ping", 1));
      return Objects.requireNonNull(session.getOperationTime());
    }
  }

  /** The servers' counters so far. */
  Counts counts() {
    Map<String, Long> returned = new LinkedHashMap<>();
    Map<String, Long> written = new LinkedHashMap<>();
    shards.forEach(
        (shard, primary) -> {
          Document status = run(primary, STATUS);
          Number documents = status.getEmbedded(DOCUMENTS_RETURNED, Number.class);
          returned.put(shard, documents.longValue());
          written.put(shard, writes(status));
        });
    Map<String, Long> routed = new LinkedHashMap<>();
    routers.forEach((router, its) -> routed.put(router, writes(run(its, STATUS))));
    return new Counts(returned, written, routed, cpu());
  }

  private Cpu cpu() {
    if (testbed != null) {
      CpuTimes times = testbed.cpuTimes();
      return new Cpu(orZero(times.routers()), orZero(times.mongods()));
    }
    return new Cpu(
        Duration.ZERO,
        ProcessHandle.of(Objects.requireNonNull(process).pid())
            .flatMap(server -> server.info().totalCpuDuration())
            .orElse(Duration.ZERO));
  }

  private static Duration orZero(@Nullable Duration time) {
    return Objects.requireNonNullElse(time, Duration.ZERO);
  }

  private static long writes(Document status) {
    Document counters = status.get("opcounters", Document.class);
    return Stream.of("insert", "update", "delete")
        .mapToLong(kind -> counters.get(kind, Number.class).longValue())
        .sum();
  }

  /** The inserts, updates and deletes of all shards together. */
  long written() {
    return shards.values().stream().mapToLong(primary -> writes(run(primary, STATUS))).sum();
  }

  /**
   * Writes a signal: a document whose arrival shows that earlier writes have arrived.
   *
   * @return the number of the signal, unique for each signal
   */
  long signal() {
    long signal = System.nanoTime();
    var unused = signals().insertOne(new Document("_id", signal));
    return signal;
  }

  /** Whether the document of a signal has arrived. */
  boolean hasSignal(long signal) {
    return signals().find(Filters.eq("_id", signal)).first() != null;
  }

  private MongoCollection<Document> signals() {
    return client.getDatabase(Workload.SIGNALS).getCollection("signals");
  }

  /** The estimated number of documents of a database. */
  long documents(String database) {
    long documents = 0;
    for (String collection : client.getDatabase(database).listCollectionNames()) {
      documents += client.getDatabase(database).getCollection(collection).estimatedDocumentCount();
    }
    return documents;
  }

  @Override
  public void close() {
    shards.values().forEach(MongoClient::close);
    routers.values().forEach(MongoClient::close);
    client.close();
    if (testbed != null) {
      testbed.close();
    }
    if (process != null) {
      process.close();
    }
  }
}
