package dev.onehop.copy.internal.cluster;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.routing.OneHop;
import dev.onehop.shards.ClusterServers;
import dev.onehop.shards.cluster.ClusterClock;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * One of the two clusters: its servers, addressed one by one, and a client whose commands go to its
 * mongoses, or to its primary. Thread-safe.
 */
public final class ClusterEnd implements AutoCloseable {
  /** The name of a replica set that is no shard. */
  public static final String ALONE = "";

  // InvalidOptions below feature compatibility version 6.0, an unknown field before 6.0.
  private static final Set<Integer> UUID_REFUSED = Set.of(72, 40415);
  private static final int WIRE_VERSION_6_0 = 17;

  private final String role;
  private final ClusterServers servers;
  private final MongoClient client;
  private final MongoClientSettings settings;
  private final BsonDocument hello;
  private volatile boolean takesUuids = true;

  private ClusterEnd(
      String role,
      ClusterServers servers,
      MongoClient client,
      MongoClientSettings settings,
      BsonDocument hello) {
    this.role = role;
    this.servers = servers;
    this.client = client;
    this.settings = settings;
    this.hello = hello;
  }

  /**
   * Connects.
   *
   * @param role source or destination, for messages
   * @param change of the driver's settings
   * @param routed whether the client sends what one shard owns to the mongos beside it
   * @param threads how many threads the connections to the servers have
   * @throws CopyException if it can't be reached or is nothing that can be copied
   */
  public static ClusterEnd connect(
      String role,
      String uri,
      Consumer<MongoClientSettings.Builder> change,
      boolean routed,
      int threads)
      throws InterruptedException {
    MongoClientSettings.Builder builder =
        MongoClientSettings.builder().applyConnectionString(new ConnectionString(uri));
    change.accept(builder);
    MongoClientSettings settings = builder.build();
    ClusterServers servers = ClusterServers.connect(settings, null, threads);
    try {
      BsonDocument hello = hello(role, servers);
      boolean mongos = isMongos(hello);
      MongoClient client =
          mongos && routed
              ? OneHop.builder(uri).applyToClientSettings(change).client(MongoClient.class)
              : MongoClients.create(settings);
      return new ClusterEnd(role, servers, client, settings, hello);
    } catch (RuntimeException | InterruptedException | Error failure) {
      servers.close();
      throw failure;
    }
  }

  private static BsonDocument hello(String role, ClusterServers servers)
      throws InterruptedException {
    BsonDocument hello;
    try {
      hello = Waits.one(run(servers.seeds(), "admin", command("hello")));
    } catch (RuntimeException failure) {
      throw new CopyException("the " + role + " can't be used: " + Waits.reason(failure), failure);
    }
    if (hello.containsKey("configsvr")) {
      throw new CopyException(
          "the " + role + "'s URL names config servers; name its mongoses", null);
    }
    if (!isMongos(hello) && !hello.containsKey("setName")) {
      throw new CopyException(
          "the " + role + " is a single server; a copy needs a replica set or a sharded cluster",
          null);
    }
    return hello;
  }

  private static boolean isMongos(BsonDocument hello) {
    return new BsonString("isdbgrid").equals(hello.get("msg"));
  }

  /** Source or destination. */
  public String role() {
    return role;
  }

  /** Whether it is a sharded cluster, and not a replica set. */
  public boolean isSharded() {
    return isMongos(hello);
  }

  /** Its servers. */
  public ClusterServers servers() {
    return servers;
  }

  /** Its client. */
  public MongoClient client() {
    return client;
  }

  /** The driver's settings for it. */
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

  /** Runs a command by the client and gives its answer; a failure if it is not carried out. */
  public BsonDocument run(String database, BsonDocument command) throws InterruptedException {
    return Waits.one(client.getDatabase(database).runCommand(command, BsonDocument.class));
  }

  /** The same again while servers can't be reached. */
  public BsonDocument runPersistently(String database, BsonDocument command)
      throws InterruptedException {
    return Waits.persistently("the " + role, () -> run(database, command));
  }

  /** All that a publisher gives, again from the beginning when a server is lost meanwhile. */
  public <T> List<T> all(Publisher<T> publisher) throws InterruptedException {
    return Waits.persistently("the " + role, () -> Waits.one(Flux.from(publisher).collectList()));
  }

  /** Documents of the metadata, as of now. */
  public List<BsonDocument> metadata(String collection, BsonDocument filter)
      throws InterruptedException {
    return Waits.persistently(
        "the " + role + "'s metadata", () -> Waits.one(servers.config().find(collection, filter)));
  }

  /** The servers of each shard by its id; of a replica set its own, as {@link #ALONE}. */
  public Map<String, ReplicaSet> shards() throws InterruptedException {
    return isSharded()
        ? Waits.persistently(
            "the " + role + "'s shards", () -> Waits.one(servers.directory().all()))
        : new TreeMap<>(Map.of(ALONE, servers.seeds()));
  }

  /** The servers of a shard as {@link #shards} names it. */
  public Mono<ReplicaSet> shard(String id) {
    return isSharded() ? servers.directory().shard(id) : Mono.just(servers.seeds());
  }

  /**
   * Sends a command to a replica set, with the cluster time.
   *
   * @return the answer; a {@link CommandFailure} if it is not carried out
   */
  public Mono<BsonDocument> send(ReplicaSet to, String database, BsonDocument command) {
    return Mono.defer(
        () -> {
          BsonDocument gossiped = command.clone();
          servers.clock().gossip(gossiped);
          return run(to, database, gossiped);
        });
  }

  private static Mono<BsonDocument> run(ReplicaSet to, String database, BsonDocument command) {
    return to.send(OpMsg.command(command.append("$db", new BsonString(database))))
        .flatMap(ReplicaSet.Answer::orFailure)
        .map(ReplicaSet.Answer::document);
  }

  /** The latest cluster time that is known of it. */
  public @Nullable BsonTimestamp clusterTime() {
    BsonDocument time = servers.clock().clusterTime();
    return time == null ? null : ClusterClock.time(time);
  }

  /**
   * Learns which version it has.
   *
   * @throws CopyException if it is too old for a copy
   */
  public void checkVersion() throws InterruptedException {
    Compatibility found = Waits.one(Compatibility.of(client));
    if (!found.isKnown()) {
      throw new CopyException(found.refusal("the " + role), null);
    }
    takesUuids = found.takesUuids();
  }

  /** Whether its servers take {@code collectionUUID} in commands, as far as is known. */
  public boolean takesUuids() {
    return takesUuids;
  }

  /**
   * Whether a command was refused for its {@code collectionUUID}. Then no other is sent one.
   *
   * @param refusal the answer
   */
  public boolean isUuidRefused(BsonDocument refusal) {
    if (!UUID_REFUSED.contains(ErrorCodes.of(refusal))
        || !refusal.getString("errmsg", new BsonString("")).getValue().contains("collectionUUID")) {
      return false;
    }
    takesUuids = false;
    return true;
  }

  /** Whether the change streams of its servers tell which collections and indexes are created. */
  public boolean tellsCreations() throws InterruptedException {
    for (ReplicaSet shard : shards().values()) {
      BsonDocument its =
          Waits.persistently("the " + role, () -> Waits.one(run(shard, "admin", command("hello"))));
      if (its.getNumber("maxWireVersion", new BsonInt32(0)).intValue() < WIRE_VERSION_6_0) {
        return false;
      }
    }
    return true;
  }

  /** What it is recognised by: of a sharded cluster its id, else the addresses of its members. */
  public Set<String> identity() throws InterruptedException {
    Set<String> identity = new HashSet<>();
    if (isSharded()) {
      metadata("version", new BsonDocument())
          .forEach(version -> identity.add(String.valueOf(version.get("clusterId"))));
      return identity;
    }
    for (String members : List.of("hosts", "passives", "arbiters")) {
      for (BsonValue host : hello.getArray(members, new BsonArray())) {
        identity.add(hello.getString("setName").getValue() + "/" + host.asString().getValue());
      }
    }
    return identity;
  }

  /** A command without arguments. */
  public static BsonDocument command(String name) {
    return new BsonDocument(name, new BsonInt32(1));
  }

  @Override
  public void close() {
    client.close();
    servers.close();
  }
}
