package dev.onehop.testbed.evidence;

import com.mongodb.ReadConcern;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.Projections;
import dev.onehop.core.table.ChunkVersion;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyException;
import dev.onehop.testbed.internal.cluster.Admin;
import dev.onehop.testbed.internal.cluster.Cluster;
import dev.onehop.testbed.internal.cluster.Credentials;
import dev.onehop.testbed.internal.cluster.ReplicaSet;
import dev.onehop.testbed.internal.cluster.Server;
import dev.onehop.testbed.internal.cluster.ShardedCollection;
import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.Topology;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Figures about one collection from the servers themselves. Thread-safe.
 *
 * @see dev.onehop.testbed.Testbed#evidence
 */
public final class ServerEvidence {
  /**
   * The kinds of {@code top} that count as operations of clients. The kind "commands" does not
   * count, because it includes this testbed's own queries.
   */
  private static final List<String> COUNTED = List.of("queries", "insert", "update", "remove");

  private static final int MOST_EXAMPLES = 5;

  private final Topology topology;
  private final Cluster cluster;
  private final List<Server> routers;
  private final Credentials access;
  private final String namespace;

  /** Only for the testbed itself. Other code calls {@link dev.onehop.testbed.Testbed#evidence}. */
  public ServerEvidence(
      Topology topology,
      Cluster cluster,
      List<Server> routers,
      Credentials access,
      String namespace) {
    this.topology = topology;
    this.cluster = cluster;
    this.routers = List.copyOf(routers);
    this.access = access;
    this.namespace = namespace;
  }

  /**
   * The number of reads (by find), inserts, updates and removes that each shard's primary has
   * executed since its start, by the server's {@code top} command. Each statement of an update or
   * delete command counts. An insert command counts once, also with several documents.
   */
  public OperationCounts operationCounts() {
    SortedMap<String, Long> counts = new TreeMap<>();
    for (ReplicaSet shard : cluster.shards()) {
      BsonDocument totals = shard.primary().run("admin", new BsonDocument("top", new BsonInt32(1)));
      BsonDocument ofCollection =
          totals.getDocument("totals").getDocument(namespace, new BsonDocument());
      long sum = 0;
      for (String kind : COUNTED) {
        BsonDocument counted = ofCollection.getDocument(kind, new BsonDocument());
        sum += counted.getNumber("count", new BsonInt64(0)).longValue();
      }
      counts.put(shard.name(), sum);
    }
    return new OperationCounts(counts);
  }

  /**
   * Starts to sample the shards' operations with the servers' profilers, to find the routers that
   * have sent them. A link connects to a shard from the caller's own address, and the profile
   * therefore has the host of the router. Only one sampling of a database may run at a time.
   *
   * @param fraction the share of operations to sample, above 0 and up to 1
   */
  public RouterSampling sampleRouters(double fraction) {
    return new RouterSampling(topology, cluster, namespace, fraction);
  }

  /**
   * Reads every document on every shard directly, and compares the documents with config.chunks and
   * with each shard's own metadata. The caller ensures that no write and no migration takes place.
   */
  public Placement placement() {
    RoutingTable table = new ShardedCollection(cluster, namespace).routingTable();
    SortedMap<String, Long> stored = new TreeMap<>();
    SortedMap<String, Long> owned = new TreeMap<>();
    List<String> examples = new ArrayList<>();
    long misplaced = 0;
    for (ReplicaSet shard : cluster.shards()) {
      long here = 0;
      try (MongoCursor<BsonDocument> documents = keys(shard.primary(), table)) {
        while (documents.hasNext()) {
          here++;
          BsonDocument document = documents.next();
          if (!owner(table, document).equals(shard.name())) {
            misplaced++;
            if (examples.size() < MOST_EXAMPLES) {
              examples.add(
                  "%s is on %s, but its owner is %s"
                      .formatted(document.toJson(), shard.name(), owner(table, document)));
            }
          }
        }
      }
      stored.put(shard.name(), here);
      owned.put(shard.name(), ownedCount(shard, table));
    }
    return new Placement(stored, owned, misplaced, examples);
  }

  private MongoCursor<BsonDocument> keys(Admin admin, RoutingTable table) {
    return admin
        .collection(database(), collection())
        // This read concern includes writes with w:1 that are not majority committed yet. The
        // versioned count has the same read concern.
        .withReadConcern(ReadConcern.LOCAL)
        .find()
        .projection(Projections.include(table.shardKeyPattern().paths()))
        .batchSize(20_000)
        .cursor();
  }

  private static String owner(RoutingTable table, BsonDocument document) {
    try {
      return table.shardOf(table.shardKeyPattern().keyOf(document));
    } catch (ShardKeyException e) {
      return "no shard: " + e.getMessage();
    }
  }

  /**
   * Returns the number of documents that the shard owns according to its own metadata. For this, it
   * sends a versioned query, which leaves orphans out.
   */
  private long ownedCount(ReplicaSet shard, RoutingTable table) {
    ChunkVersion version = table.shardVersion(shard.name());
    BsonDocument shardVersion =
        new BsonDocument("e", new org.bson.BsonObjectId(version.epoch()))
            .append("t", version.timestamp())
            .append("v", version.toTimestamp());
    BsonDocument count =
        new BsonDocument("aggregate", new BsonString(collection()))
            .append(
                "pipeline",
                new BsonArray(List.of(new BsonDocument("$count", new BsonString("documents")))))
            .append("cursor", new BsonDocument())
            .append("readConcern", new BsonDocument("level", new BsonString("local")))
            .append("shardVersion", shardVersion);
    List<BsonValue> batch =
        shard
            .primary()
            .run(database(), count)
            .getDocument("cursor")
            .getArray("firstBatch")
            .getValues();
    return batch.isEmpty() ? 0 : batch.get(0).asDocument().getNumber("documents").longValue();
  }

  /**
   * Returns the {@code opcounters} that every router reports since its start.
   *
   * @return for each router's advertised {@code host:port}, the counts by kind of operation
   */
  public Map<String, Map<String, Long>> routerOperations() {
    Map<String, Map<String, Long>> byRouter = new LinkedHashMap<>();
    for (Server router : routers) {
      try (Admin admin = Admin.of(router, access)) {
        BsonDocument status =
            admin.run("admin", new BsonDocument("serverStatus", new BsonInt32(1)));
        Map<String, Long> counts = new LinkedHashMap<>();
        status
            .getDocument("opcounters")
            .forEach(
                (kind, count) -> {
                  if (count.isNumber()) {
                    counts.put(kind, count.asNumber().longValue());
                  }
                });
        byRouter.put(router.advertised(), counts);
      }
    }
    return byRouter;
  }

  /**
   * Returns the name of the host with this address, or of the only host in a topology of one host.
   */
  static String hostOf(Topology topology, String address) {
    List<Host> hosts = topology.hosts();
    return hosts.size() == 1
        ? hosts.get(0).name()
        : hosts.stream()
            .filter(host -> address.equals(ipOf(host)))
            .map(Host::name)
            .findFirst()
            .orElse("");
  }

  /**
   * Returns the IP address of a host; null if it is unknown. A host of an existing cluster may have
   * a name as its address.
   */
  private static @Nullable String ipOf(Host host) {
    InetAddress resolved = new InetSocketAddress(host.address(), 0).getAddress();
    return resolved == null ? null : resolved.getHostAddress();
  }

  private String database() {
    return namespace.substring(0, namespace.indexOf('.'));
  }

  private String collection() {
    return namespace.substring(namespace.indexOf('.') + 1);
  }
}
