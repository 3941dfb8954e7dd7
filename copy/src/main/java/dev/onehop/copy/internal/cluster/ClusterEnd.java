package dev.onehop.copy.internal.cluster;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoNamespace;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoCollection;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.observation.RouterStatus;
import dev.onehop.shards.ClusterServers;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One of the two clusters of a copy. It has connections to single servers, and a client whose
 * commands go to the mongoses, or to the primary of a replica set. Thread-safe.
 */
public final class ClusterEnd implements AutoCloseable {
  /** The id, in {@link #shards}, of a replica set that is not a shard. */
  public static final String ALONE = "";

  // The errors of servers that do not support collectionUUID: InvalidOptions below feature
  // compatibility version 6.0, an unknown field on servers before 6.0.
  private static final Set<Integer> UUID_REFUSED = Set.of(ErrorCodes.INVALID_OPTIONS, 40_415);
  private static final Logger log = LoggerFactory.getLogger(ClusterEnd.class);

  private static final Duration TO_BE_READY = Duration.ofSeconds(10);

  private final String role;
  private final MongoClientSettings settings;
  private final int threads;
  private final BsonDocument hello;
  private final MongoClient client;
  private final @Nullable OneHop router;
  private volatile boolean takesUuids = true;
  private volatile Duration patience = Waits.FOREVER;
  private @Nullable ClusterServers servers; // guarded by this

  private ClusterEnd(
      String role,
      MongoClientSettings settings,
      int threads,
      BsonDocument hello,
      MongoClient client,
      @Nullable OneHop router) {
    this.role = role;
    this.settings = settings;
    this.threads = threads;
    this.hello = hello;
    this.client = client;
    this.router = router;
  }

  /**
   * Connects.
   *
   * @param role source or destination, for messages
   * @param change changes the driver's settings
   * @param routing the routing mode of the client of a sharded cluster. If a shard is unreachable,
   *     {@code NONE} replaces {@code DIRECT}
   * @param threads the number of threads for the connections to the servers
   * @throws CopyException if the cluster is unreachable, with the failure as its cause, or if the
   *     URL names config servers
   */
  public static ClusterEnd connect(
      String role,
      String uri,
      Consumer<MongoClientSettings.Builder> change,
      RoutingMode routing,
      int threads)
      throws InterruptedException {
    MongoClientSettings.Builder builder =
        MongoClientSettings.builder().applyConnectionString(new ConnectionString(uri));
    change.accept(builder);
    MongoClientSettings settings = builder.build();
    MongoClient client = MongoClients.create(settings);
    try {
      BsonDocument hello = hello(role, client);
      OneHop router =
          ClusterQueries.isMongos(hello) && routing != RoutingMode.NONE
              ? router(role, routing, OneHop.builder(uri).applyToClientSettings(change))
              : null;
      if (router != null) {
        client.close();
        client = MongoClients.create(router.clientSettings());
      }
      return new ClusterEnd(role, settings, threads, hello, client, router);
    } catch (RuntimeException | InterruptedException | Error failure) {
      client.close();
      throw failure;
    }
  }

  private static BsonDocument hello(String role, MongoClient client) throws InterruptedException {
    BsonDocument hello;
    try {
      hello = Waits.one(ClusterQueries.admin(client, command("hello")));
    } catch (RuntimeException failure) {
      throw new CopyException("the " + role + " can't be used: " + Waits.reason(failure), failure);
    }
    if (hello.containsKey("configsvr")) {
      throw new CopyException(
          "the " + role + "'s URL names config servers; name its mongoses", null);
    }
    return hello;
  }

  /**
   * Creates a router of the given mode. Null if the mode is direct and can't be used: the shards
   * are unreachable from here, they refuse the user, or the URI excludes direct mode.
   */
  private static @Nullable OneHop router(String role, RoutingMode mode, OneHop.Builder builder) {
    String missing;
    try {
      OneHop router = builder.routing(mode).build();
      RouterStatus status = router.ready(mode == RoutingMode.DIRECT ? TO_BE_READY : Duration.ZERO);
      if (status.isReady() || mode != RoutingMode.DIRECT) {
        return router;
      }
      router.close();
      missing = String.join("; ", status.missing());
    } catch (IllegalArgumentException e) {
      missing = Waits.reason(e);
    }
    log.warn("the shards of the {} are unavailable, so its mongoses are used: {}", role, missing);
    return null;
  }

  /** Source or destination. */
  public String role() {
    return role;
  }

  /** Whether the cluster is sharded; otherwise it is a replica set. */
  public boolean isSharded() {
    return ClusterQueries.isMongos(hello);
  }

  /** The reply of a server of the cluster to {@code hello}. */
  public BsonDocument hello() {
    return hello;
  }

  /** The servers of the cluster. */
  public synchronized ClusterServers servers() {
    ClusterServers known = servers;
    if (known == null) {
      known = ClusterServers.connect(settings, null, threads);
      servers = known;
    }
    return known;
  }

  /** The client of the cluster. */
  public MongoClient client() {
    return client;
  }

  /** The driver's settings for the cluster. */
  public MongoClientSettings settings() {
    return settings;
  }

  /** A database, with majority reads of the primary and majority writes. */
  public MongoDatabase database(String name) {
    return client
        .getDatabase(name)
        .withReadPreference(ReadPreference.primary())
        .withReadConcern(ReadConcern.MAJORITY)
        .withWriteConcern(WriteConcern.MAJORITY);
  }

  /** The collection {@code database.collection}, with majority reads of the primary. */
  public MongoCollection<BsonDocument> collection(String namespace) {
    MongoNamespace name = new MongoNamespace(namespace);
    return database(name.getDatabaseName())
        .getCollection(name.getCollectionName(), BsonDocument.class);
  }

  /**
   * Runs a command through the client and returns the reply. Throws an exception if the server
   * refuses the command.
   */
  public BsonDocument run(String database, BsonDocument command) throws InterruptedException {
    return Waits.one(client.getDatabase(database).runCommand(command, BsonDocument.class));
  }

  /** Runs a command through the client, and retries while servers are unreachable. */
  public BsonDocument runPersistently(String database, BsonDocument command)
      throws InterruptedException {
    return persistently(() -> run(database, command));
  }

  /**
   * All values of a publisher. If the connection to a server is lost, the values are read again
   * from the beginning.
   */
  public <T> List<T> all(Publisher<T> publisher) throws InterruptedException {
    return one(() -> Flux.from(publisher).collectList());
  }

  /** The first value of a publisher that has one. Retries if the connection to a server is lost. */
  public <T> T one(Supplier<? extends Publisher<T>> publisher) throws InterruptedException {
    return persistently(() -> Waits.one(publisher.get()));
  }

  /** Retries a step until it succeeds, fails permanently, or the time limit has passed. */
  public <T extends @Nullable Object> T persistently(Waits.Step<T> step)
      throws InterruptedException {
    return Waits.persistently(patience(), step);
  }

  /** The time limit for retries of transient failures. */
  public Waits.Patience patience() {
    return new Waits.Patience("the " + role, patience);
  }

  /** Sets how long transient failures are retried; by default without a limit. */
  public void setPatience(Duration longest) {
    patience = longest;
  }

  /** Reads documents of the metadata. */
  public List<BsonDocument> metadata(String collection, BsonDocument filter)
      throws InterruptedException {
    return all(ClusterQueries.metadata(client, collection, filter));
  }

  /**
   * The servers of each shard, by the shard's id. A replica set that is not a shard has the id
   * {@link #ALONE}.
   */
  public Map<String, ReplicaSet> shards() throws InterruptedException {
    return isSharded()
        ? one(() -> servers().directory().all())
        : new TreeMap<>(Map.of(ALONE, servers().seeds()));
  }

  /** The servers of a shard, by its id in {@link #shards}. */
  public Mono<ReplicaSet> shard(String id) {
    return isSharded() ? servers().directory().shard(id) : Mono.just(servers().seeds());
  }

  /**
   * Sends a command to a replica set, with the cluster time.
   *
   * @return the reply; a {@link CommandFailure} if the server refuses the command
   */
  public Mono<BsonDocument> send(ReplicaSet to, String database, BsonDocument command) {
    return Mono.defer(
        () -> {
          BsonDocument gossiped = command.clone();
          servers().clock().gossip(gossiped);
          return to.run(database, gossiped);
        });
  }

  /** The present cluster time, which is at or after the times of all earlier replies. */
  public @Nullable BsonTimestamp clusterTime() throws InterruptedException {
    // Every reply reports the cluster time. This command makes sure that there is a reply.
    one(() -> servers().seeds().run("admin", command("hello")));
    return servers().clock().now();
  }

  /**
   * Whether commands may contain {@code collectionUUID}; false if servers do not accept this field.
   */
  public boolean takesUuids() {
    return takesUuids;
  }

  void setTakesUuids(boolean accepted) {
    takesUuids = accepted;
  }

  /**
   * Whether a server refused a command because of its {@code collectionUUID}. If so, later commands
   * do not have this field.
   *
   * @param refusal the reply
   */
  public boolean isUuidRefused(BsonDocument refusal) {
    if (!UUID_REFUSED.contains(ErrorCodes.of(refusal))
        || !refusal.getString("errmsg", new BsonString("")).getValue().contains("collectionUUID")) {
      return false;
    }
    takesUuids = false;
    return true;
  }

  /** A command without arguments. */
  public static BsonDocument command(String name) {
    return new BsonDocument(name, new BsonInt32(1));
  }

  @Override
  public void close() {
    client.close();
    if (router != null) {
      router.close();
    }
    synchronized (this) {
      if (servers != null) {
        servers.close();
      }
    }
  }
}
