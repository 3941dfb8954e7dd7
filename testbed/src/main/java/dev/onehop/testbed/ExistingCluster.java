package dev.onehop.testbed;

import com.mongodb.ConnectionString;
import com.mongodb.MongoException;
import com.mongodb.MongoNamespace;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.onehop.testbed.ServerInfo.RouterKind;
import dev.onehop.testbed.evidence.OperationCounts;
import dev.onehop.testbed.internal.cluster.Admin;
import dev.onehop.testbed.internal.cluster.Cluster;
import dev.onehop.testbed.internal.cluster.Credentials;
import dev.onehop.testbed.internal.cluster.ShardedCollection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * A running sharded cluster, reached through its mongoses with a user's rights. A fact that the
 * mongos does not report to this user is unknown. Thread-safe.
 */
public final class ExistingCluster implements AutoCloseable {
  /** The value of facts that a server does not report. */
  public static final String UNKNOWN = "unknown";

  private static final int PINGS = 25;

  private final ConnectionString url;
  private final Credentials access;
  private final Cluster cluster;
  private final Admin mongos;

  private ExistingCluster(ConnectionString url, Credentials access, Cluster cluster, Admin mongos) {
    this.url = url;
    this.access = access;
    this.cluster = cluster;
    this.mongos = mongos;
  }

  /**
   * Connects to a cluster.
   *
   * @param url one or several of its mongoses, with user and password if the cluster has access
   *     control
   * @param authority the trusted authority of the cluster's certificates; null for the JVM's
   *     default trust store
   * @throws TestbedException if the server is no mongos, the login fails, or the user lacks the
   *     right to read {@code config.shards}
   */
  public static ExistingCluster at(ConnectionString url, @Nullable TrustedAuthority authority) {
    Credentials access = new Credentials(null, authority == null ? null : authority.context());
    Cluster cluster = Cluster.through(url, access);
    return new ExistingCluster(url, access, cluster, Admin.of(url, access));
  }

  /** The names of the shards, in the order in which collections are spread over them. */
  public List<String> shards() {
    return cluster.shardNames();
  }

  /** Every shard's replica set, as {@code name/host:port[,host:port...]}, by the shard's name. */
  public Map<String, String> shardHosts() {
    SortedMap<String, String> hosts = new TreeMap<>();
    for (BsonDocument shard : config("shards")) {
      hosts.put(shard.getString("_id").getValue(), shard.getString("host").getValue());
    }
    return hosts;
  }

  /**
   * The mongoses that have written their heartbeat within the last minute, as {@code host:port}.
   */
  public List<String> mongosAddresses() {
    List<BsonDocument> registered = config("mongos");
    long latest =
        registered.stream()
            .mapToLong(mongos -> mongos.getDateTime("ping").getValue())
            .max()
            .orElse(0);
    return registered.stream()
        .filter(mongos -> latest - mongos.getDateTime("ping").getValue() < 60_000)
        .map(mongos -> mongos.getString("_id").getValue())
        .sorted()
        .toList();
  }

  private List<BsonDocument> config(String collection) {
    try {
      return mongos.collection("config", collection).find().into(new ArrayList<>());
    } catch (MongoException e) {
      throw new TestbedException("config." + collection + " can't be read: " + e.getMessage(), e);
    }
  }

  /**
   * Returns the mongos' report about itself. The report has no versions of config servers and
   * shards.
   */
  public ServerInfo server() {
    BsonDocument hello = mongos.run("admin", new BsonDocument("hello", new BsonInt32(1)));
    String version = UNKNOWN;
    try {
      version =
          mongos
              .run("admin", new BsonDocument("buildInfo", new BsonInt32(1)))
              .getString("version", new BsonString(UNKNOWN))
              .getValue();
    } catch (TestbedException e) {
      // The stand-in router does not support buildInfo.
    }
    boolean standIn = hello.containsKey("onehopStandIn");
    return new ServerInfo(
        UNKNOWN, UNKNOWN, standIn ? RouterKind.STAND_IN : RouterKind.MONGOS, version);
  }

  /** Whether a collection is sharded. */
  public boolean isSharded(String namespace) {
    try {
      return mongos
              .collection("config", "collections")
              .find(Filters.and(Filters.eq("_id", namespace), Filters.ne("dropped", true)))
              .first()
          != null;
    } catch (MongoException e) {
      throw new TestbedException("config.collections can't be read: " + e.getMessage(), e);
    }
  }

  /**
   * Shards a collection and distributes it, as {@link Testbed#shardCollection} does.
   *
   * @throws TestbedException as {@link Testbed#shardCollection}, and if the user lacks the rights
   */
  public void shardCollection(String namespace, BsonDocument key, List<BsonDocument> splitPoints) {
    ShardedCollection collection = new ShardedCollection(cluster, namespace);
    collection.create(key, null);
    collection.spread(splitPoints);
  }

  /**
   * Shards a collection on a hashed key; the server distributes the chunks over the shards.
   *
   * @param chunks the initial number of chunks
   */
  public void shardHashedCollection(String namespace, BsonDocument key, int chunks) {
    new ShardedCollection(cluster, namespace).create(key, chunks);
  }

  /**
   * Moves the chunk that begins at {@code min} to a shard, and waits until the migration is done.
   */
  public void moveRange(String namespace, BsonDocument min, String toShard) {
    new ShardedCollection(cluster, namespace).moveRange(min, null, toShard);
  }

  /** Drops a collection; does nothing if there is none. */
  public void dropCollection(String namespace) {
    new ShardedCollection(cluster, namespace).drop();
  }

  /** The number of documents of a collection. */
  public long count(String namespace) {
    try {
      return documents(namespace).countDocuments();
    } catch (MongoException e) {
      throw new TestbedException(namespace + " can't be counted: " + e.getMessage(), e);
    }
  }

  /** Deletes all documents of a collection. The collection stays sharded. */
  public void deleteAll(String namespace) {
    try {
      var unused = documents(namespace).deleteMany(new BsonDocument());
    } catch (MongoException e) {
      throw new TestbedException(namespace + " can't be emptied: " + e.getMessage(), e);
    }
  }

  private MongoCollection<BsonDocument> documents(String namespace) {
    MongoNamespace name = new MongoNamespace(namespace);
    return mongos
        .client()
        .getDatabase(name.getDatabaseName())
        .getCollection(name.getCollectionName(), BsonDocument.class);
  }

  /**
   * The number of reads and writes of a collection that each shard has executed since its start, by
   * the servers' {@code $collStats}.
   *
   * @throws TestbedException if the mongos refuses {@code $collStats}, or the user lacks the right
   *     {@code collStats}
   */
  public OperationCounts operationCounts(String namespace) {
    SortedMap<String, Long> counts = new TreeMap<>();
    try {
      List<BsonDocument> stages =
          List.of(
              new BsonDocument("$collStats", new BsonDocument("latencyStats", new BsonDocument())));
      for (BsonDocument ofShard : documents(namespace).aggregate(stages)) {
        BsonDocument stats = ofShard.getDocument("latencyStats");
        counts.merge(
            ofShard.getString("shard").getValue(),
            operations(stats, "reads") + operations(stats, "writes"),
            Long::sum);
      }
    } catch (MongoException e) {
      throw new TestbedException("$collStats of " + namespace + " failed: " + e.getMessage(), e);
    }
    return new OperationCounts(counts);
  }

  private static long operations(BsonDocument stats, String kind) {
    return stats
        .getDocument(kind, new BsonDocument())
        .getNumber("ops", new BsonInt64(0))
        .longValue();
  }

  /**
   * Measures the round trip to a mongos with single pings over an idle connection.
   *
   * @param address {@code host:port}
   * @return the median
   * @throws TestbedException if this machine cannot reach the mongos
   */
  public Duration roundTrip(String address) {
    int colon = address.lastIndexOf(':');
    try (Admin one =
        Admin.ofOne(
            url,
            access,
            address.substring(0, colon),
            Integer.parseInt(address.substring(colon + 1)))) {
      BsonDocument ping = new BsonDocument("ping", new BsonInt32(1));
      for (int i = 0; i < 3; i++) {
        one.run("admin", ping);
      }
      long[] nanos = new long[PINGS];
      for (int i = 0; i < PINGS; i++) {
        long sent = System.nanoTime();
        one.run("admin", ping);
        nanos[i] = System.nanoTime() - sent;
      }
      Arrays.sort(nanos);
      return Duration.ofNanos(nanos[PINGS / 2]);
    }
  }

  @Override
  public void close() {
    mongos.close();
    cluster.close();
  }
}
