package dev.onehop.copy.verify;

import com.mongodb.ClientSessionOptions;
import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.copy.internal.cluster.Compatibility;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.observation.RouterStatus;
import java.time.Duration;
import java.util.Objects;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of the two clusters, and how it is read: metadata through its mongoses, documents from the
 * shards themselves where that is possible. Orphans are never seen, neither way. Reads are of
 * primaries, with majority read concern.
 *
 * <p>Thread-safe.
 */
final class Endpoint implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Endpoint.class);

  private static final Duration TO_BE_READY = Duration.ofSeconds(10);

  private final String name;
  private final MongoClient client;
  private final @Nullable Shards direct;
  private final boolean sharded;
  private final String identity;
  private final int shards;

  private @Nullable BsonTimestamp operationTime; // guarded by this
  private @Nullable BsonDocument clusterTime; // guarded by this

  /** A client of the shards themselves. */
  private record Shards(OneHop router, MongoClient client) implements AutoCloseable {
    @Override
    public void close() {
      client.close();
      router.close();
    }
  }

  private Endpoint(
      String name,
      MongoClient client,
      @Nullable Shards direct,
      boolean sharded,
      String identity,
      int shards) {
    this.name = name;
    this.client = client;
    this.direct = direct;
    this.sharded = sharded;
    this.identity = identity;
    this.shards = shards;
  }

  /**
   * Connects.
   *
   * @param name of the side, for messages
   * @param url of mongoses or of a replica set
   * @param change of the client's settings
   * @param throughMongos whether documents, too, are read through the mongoses
   * @throws IllegalArgumentException if the URL names something else
   */
  static Endpoint connect(
      String name,
      String url,
      Consumer<MongoClientSettings.Builder> change,
      boolean throughMongos) {
    MongoClientSettings.Builder settings =
        MongoClientSettings.builder().applyConnectionString(new ConnectionString(url));
    change.accept(settings);
    MongoClient client = MongoClients.create(settings.build());
    try {
      BsonDocument hello = run(client, new BsonDocument("hello", new BsonInt32(1)));
      refuseOld(name, client);
      boolean mongos = new BsonString("isdbgrid").equals(hello.get("msg"));
      if (!mongos) {
        refuseParts(name, client, hello);
        return new Endpoint(name, client, null, false, identityOf(hello), 1);
      }
      String identity = "cluster " + clusterId(client);
      int shards = count(client);
      return new Endpoint(
          name, client, throughMongos ? null : shards(name, url, change), true, identity, shards);
    } catch (RuntimeException e) {
      client.close();
      throw e;
    }
  }

  private static BsonDocument run(MongoClient client, BsonDocument command) {
    return Objects.requireNonNull(
        Servers.one(client.getDatabase("admin").runCommand(command, BsonDocument.class)));
  }

  private static void refuseOld(String name, MongoClient client) {
    Compatibility found = Servers.one(Compatibility.of(client));
    if (found != null && !found.isKnown()) {
      throw new IllegalArgumentException(found.refusal(name));
    }
  }

  private static void refuseParts(String name, MongoClient client, BsonDocument hello) {
    if (hello.containsKey("configsvr")) {
      throw new IllegalArgumentException(
          name + " names config servers: name the mongoses of the cluster");
    }
    BsonDocument identity = null;
    try {
      identity =
          Servers.one(
              client
                  .getDatabase("admin")
                  .getCollection("system.version", BsonDocument.class)
                  .find(new BsonDocument("_id", new BsonString("shardIdentity")))
                  .first());
    } catch (MongoCommandException e) {
      log.debug("{} does not tell whether it is a shard", name, e);
    }
    if (identity != null) {
      throw new IllegalArgumentException(
          name
              + " names a shard of a cluster, which may have orphans: name the cluster's mongoses");
    }
  }

  private static String identityOf(BsonDocument hello) {
    if (!hello.containsKey("setName")) {
      // Of the process, which is all that a server on its own has.
      return "server "
          + hello.getDocument("topologyVersion").getObjectId("processId").getValue().toHexString();
    }
    TreeSet<String> members = new TreeSet<>();
    for (BsonValue host : hello.getArray("hosts")) {
      members.add(host.asString().getValue());
    }
    return "replica set " + hello.getString("setName").getValue() + members;
  }

  private static String clusterId(MongoClient client) {
    BsonDocument version =
        Servers.one(
            client
                .getDatabase("config")
                .getCollection("version", BsonDocument.class)
                .find()
                .first());
    if (version == null || !version.isObjectId("clusterId")) {
      throw new IllegalArgumentException("the cluster has no id in config.version");
    }
    return version.getObjectId("clusterId").getValue().toHexString();
  }

  private static int count(MongoClient client) {
    Long shards =
        Servers.one(client.getDatabase("config").getCollection("shards").countDocuments());
    return shards == null ? 1 : Math.max(1, shards.intValue());
  }

  /** Null if shards can't be reached from here, or don't know the user. */
  private static @Nullable Shards shards(
      String name, String url, Consumer<MongoClientSettings.Builder> change) {
    String missing;
    try {
      OneHop router =
          OneHop.builder(url).routing(RoutingMode.DIRECT).applyToClientSettings(change).build();
      RouterStatus status = router.ready(TO_BE_READY);
      if (status.isReady()) {
        return new Shards(router, MongoClients.create(router.clientSettings()));
      }
      router.close();
      missing = String.join("; ", status.missing());
    } catch (IllegalArgumentException e) {
      missing = e.getMessage();
    }
    log.warn(
        "the documents of {} are read through its mongoses, as its shards can't be read: {}",
        name,
        missing);
    return null;
  }

  /** Source or destination, as messages have it. */
  String name() {
    return name;
  }

  boolean isSharded() {
    return sharded;
  }

  /** What two endpoints of the same cluster have in common, and no others. */
  String identity() {
    return identity;
  }

  /** How many servers answer a read at the same time, at most. */
  int shards() {
    return shards;
  }

  MongoDatabase metadata(String database) {
    return client
        .getDatabase(database)
        .withReadPreference(ReadPreference.primary())
        .withReadConcern(ReadConcern.MAJORITY);
  }

  MongoClient client() {
    return client;
  }

  /**
   * Documents as they are.
   *
   * @param routed whether the shards are read themselves; else through a mongos
   */
  MongoCollection<RawBsonDocument> documents(String namespace, boolean routed) {
    int dot = namespace.indexOf('.');
    return (routed && direct != null ? direct.client() : client)
        .getDatabase(namespace.substring(0, dot))
        .getCollection(namespace.substring(dot + 1), RawBsonDocument.class)
        .withReadPreference(ReadPreference.primary())
        .withReadConcern(ReadConcern.MAJORITY);
  }

  /**
   * A session.
   *
   * @param after whether its reads see what all sessions that were given back have seen
   */
  ClientSession session(boolean routed, boolean after) {
    ClientSession session =
        Objects.requireNonNull(
            Servers.one(
                (routed && direct != null ? direct.client() : client)
                    .startSession(
                        ClientSessionOptions.builder().causallyConsistent(true).build())));
    if (!after) {
      return session;
    }
    synchronized (this) {
      if (operationTime != null) {
        session.advanceOperationTime(operationTime);
      }
      if (clusterTime != null) {
        session.advanceClusterTime(clusterTime);
      }
    }
    return session;
  }

  /** Ends a session, and remembers up to when it has seen. */
  void giveBack(ClientSession session) {
    BsonTimestamp operation = session.getOperationTime();
    BsonDocument cluster = session.getClusterTime();
    session.close();
    synchronized (this) {
      if (operation != null && (operationTime == null || operation.compareTo(operationTime) > 0)) {
        operationTime = operation;
      }
      if (cluster != null
          && (clusterTime == null
              || cluster
                      .getTimestamp("clusterTime")
                      .compareTo(clusterTime.getTimestamp("clusterTime"))
                  > 0)) {
        clusterTime = cluster;
      }
    }
  }

  @Override
  public void close() {
    if (direct != null) {
      direct.close();
    }
    client.close();
  }
}
