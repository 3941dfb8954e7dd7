package dev.onehop.testbed;

import com.mongodb.ConnectionString;
import com.mongodb.MongoException;
import com.mongodb.MongoNamespace;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.onehop.testbed.ServerInfo.RouterKind;
import dev.onehop.testbed.evidence.OperationCounts;
import dev.onehop.testbed.internal.cluster.Access;
import dev.onehop.testbed.internal.cluster.Admin;
import dev.onehop.testbed.internal.cluster.Cluster;
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
 * A sharded cluster that is there already, seen through its mongoses and with the rights of a
 * user's: what a mongos does not tell, or not this user, is not known here. Thread-safe.
 */
public final class ExistingCluster implements AutoCloseable {
  /** What is written where a server does not say it. */
  public static final String UNKNOWN = "unknown";

  private static final int PINGS = 25;

  private final ConnectionString url;
  private final Access access;
  private final Cluster cluster;
  private final Admin mongos;

  private ExistingCluster(ConnectionString url, Access access, Cluster cluster, Admin mongos) {
    this.url = url;
    this.access = access;
    this.cluster = cluster;
    this.mongos = mongos;
  }

  /**
   * Connects to a cluster.
   *
   * @param url of one or several of its mongoses, with user and password where it has access
   *     control
   * @param authority what its certificates are trusted by; null for what Java trusts by itself
   * @throws TestbedException if there is no mongos, it does not let this user in, or the user may
   *     not read {@code config.shards}
   */
  public static ExistingCluster at(ConnectionString url, @Nullable TrustedAuthority authority) {
    Access access = new Access(null, authority == null ? null : authority.context());
    Cluster cluster = Cluster.through(url, access);
    return new ExistingCluster(url, access, cluster, Admin.of(url, access));
  }

  /** The shards' names, in the order in which collections are spread over them. */
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

  /** The mongoses that have said in the last minute that they are there, as {@code host:port}. */
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

  /** What the mongos says of itself; of the servers behind it it says nothing. */
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
      // A stand-in that does not know the command.
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
   * Shards a collection and places it, as {@link Testbed#shardCollection} does.
   *
   * @throws TestbedException also if the user may not
   */
  public void shardCollection(String namespace, BsonDocument key, List<BsonDocument> splitPoints) {
    ShardedCollection collection = new ShardedCollection(cluster, namespace);
    collection.create(key, null);
    collection.spread(splitPoints);
  }

  /**
   * Shards a collection on a hashed key; the server deals the chunks to the shards.
   *
   * @param chunks how many to begin with
   */
  public void shardHashedCollection(String namespace, BsonDocument key, int chunks) {
    new ShardedCollection(cluster, namespace).create(key, chunks);
  }

  /** Moves the chunk that begins at {@code min} to a shard and waits until it is there. */
  public void moveRange(String namespace, BsonDocument min, String toShard) {
    new ShardedCollection(cluster, namespace).moveRange(min, null, toShard);
  }

  /** Drops a collection; does nothing if there is none. */
  public void dropCollection(String namespace) {
    new ShardedCollection(cluster, namespace).drop();
  }

  /** How many documents a collection has. */
  public long count(String namespace) {
    try {
      return documents(namespace).countDocuments();
    } catch (MongoException e) {
      throw new TestbedException(namespace + " can't be counted: " + e.getMessage(), e);
    }
  }

  /** Deletes all documents of a collection, which stays sharded as it is. */
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
   * How many reads and writes each shard has executed on a collection since it started, by the
   * servers' {@code $collStats}.
   *
   * @throws TestbedException if the mongos refuses it, or the user lacks the right {@code
   *     collStats}
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
      throw new TestbedException("$collStats of " + namespace + ": " + e.getMessage(), e);
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
   * @throws TestbedException if it can't be reached from here
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
