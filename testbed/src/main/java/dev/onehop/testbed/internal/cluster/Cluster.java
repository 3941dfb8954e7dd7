package dev.onehop.testbed.internal.cluster;

import com.mongodb.ConnectionString;
import com.mongodb.client.model.Filters;
import dev.onehop.testbed.TestbedException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * The sharded cluster of config servers and shards, with or without a mongos. It reads metadata
 * from the config servers, and changes metadata by {@link ClusterCommands}. Thread-safe.
 */
public final class Cluster implements AutoCloseable {
  private final @Nullable ReplicaSet config;
  private final Map<String, ReplicaSet> shards = new LinkedHashMap<>();
  private final List<String> shardNames;
  private final @Nullable Admin mongos;
  private final ClusterCommands commands;
  private final Function<String, @Nullable ReplicaSet> others;

  /**
   * @param config the config servers
   * @param shards the shards, in the order in which data is spread over them
   * @param mongos a real mongos, closed with the cluster. Null if there is none; the servers then
   *     get the commands that a mongos would send to them
   */
  public Cluster(ReplicaSet config, List<ReplicaSet> shards, @Nullable Admin mongos) {
    this.config = config;
    shards.forEach(shard -> this.shards.put(shard.name(), shard));
    this.shardNames = List.copyOf(this.shards.keySet());
    this.mongos = mongos;
    this.commands =
        mongos == null ? new ServerCommands(this) : new MongosCommands(mongos, this::databaseEntry);
    this.others = name -> null;
  }

  private Cluster(
      Admin mongos, List<String> shardNames, Function<String, @Nullable ReplicaSet> others) {
    this.config = null;
    this.shardNames = List.copyOf(shardNames);
    this.mongos = mongos;
    this.commands = new MongosCommands(mongos, this::databaseEntry);
    this.others = others;
  }

  /**
   * An existing cluster, reached through its mongoses. Collections can be created and moved. The
   * config servers get no commands, and a shard gets commands only by {@link #shard}. If the URL's
   * server is a testbed's stand-in router, the commands go to the servers behind the router.
   *
   * @param access credentials in addition to the URL's
   * @throws TestbedException if the server is no mongos, or does not reply
   */
  public static Cluster through(ConnectionString url, Credentials access) {
    Admin mongos = Admin.of(url, access);
    try {
      BsonDocument hello = mongos.run("admin", new BsonDocument("hello", new BsonInt32(1)));
      if (!hello.containsKey("msg")) {
        throw new TestbedException(String.join(",", url.getHosts()) + " is not a mongos");
      }
      Map<String, String> hosts = new TreeMap<>();
      mongos
          .collection("config", "shards")
          .find()
          .forEach(
              shard ->
                  hosts.put(shard.getString("_id").getValue(), shard.getString("host").getValue()));
      if (!hello.containsKey("onehopStandIn")) {
        return new Cluster(
            mongos,
            List.copyOf(hosts.keySet()),
            name ->
                hosts.containsKey(name)
                    ? ReplicaSet.at(
                        Server.Role.SHARD,
                        hosts.get(name),
                        member -> Admin.ofOne(url, access, member.host().address(), member.port()))
                    : null);
      }
      mongos.close();
      return behindStandIn(hosts);
    } catch (RuntimeException e) {
      mongos.close();
      throw e;
    }
  }

  private static Cluster behindStandIn(Map<String, String> hosts) {
    List<ReplicaSet> shards = new ArrayList<>();
    hosts.forEach((shard, set) -> shards.add(ReplicaSet.at(Server.Role.SHARD, set, Cluster::open)));
    BsonDocument identity =
        shards
            .get(0)
            .primary()
            .client()
            .getDatabase("admin")
            .getCollection("system.version", BsonDocument.class)
            .find(Filters.eq("_id", "shardIdentity"))
            .first();
    if (identity == null) {
      throw new TestbedException(shards.get(0).name() + " does not report its config servers");
    }
    String config = identity.getString("configsvrConnectionString").getValue();
    return new Cluster(ReplicaSet.at(Server.Role.CONFIG, config, Cluster::open), shards, null);
  }

  private static Admin open(Server server) {
    return Admin.of(server, Credentials.OPEN);
  }

  /** Forms one cluster of the initiated replica sets. */
  public void form() {
    commands.stopBalancer();
    shards.values().forEach(commands::addShard);
  }

  ClusterCommands commands() {
    return commands;
  }

  /**
   * Returns commands that go to the servers without a mongos. If the cluster is reached through its
   * mongoses, only shards get these commands.
   */
  ClusterCommands commandsOfServers() {
    return new ServerCommands(this);
  }

  /**
   * The config servers.
   *
   * @throws IllegalStateException if the cluster is reached through its mongoses only
   */
  public ReplicaSet config() {
    if (config == null) {
      throw new IllegalStateException("config servers cannot be reached through a mongos");
    }
    return config;
  }

  /** The server from which the config database is read. */
  Admin catalog() {
    return config == null ? Objects.requireNonNull(mongos) : config.primary();
  }

  /** The shards, in the order in which data is spread over them. */
  public List<String> shardNames() {
    return shardNames;
  }

  public List<ReplicaSet> shards() {
    synchronized (shards) {
      return List.copyOf(shards.values());
    }
  }

  /**
   * The shard with this name. If the cluster is reached through its mongoses, the first call
   * connects to the shard, with the URL's user.
   *
   * @throws TestbedException if there is no such shard
   */
  public ReplicaSet shard(String name) {
    synchronized (shards) {
      @Nullable ReplicaSet shard = shards.computeIfAbsent(name, others);
      if (shard == null) {
        throw new TestbedException("the cluster has no shard '" + name + "'");
      }
      return shard;
    }
  }

  /** A database's document of config.databases; null if there is none. */
  @Nullable BsonDocument databaseEntry(String database) {
    return catalog().collection("config", "databases").find(Filters.eq("_id", database)).first();
  }

  /**
   * A collection's document of config.collections.
   *
   * @throws TestbedException if it is not sharded
   */
  BsonDocument collectionEntry(String namespace) {
    @Nullable BsonDocument entry =
        catalog()
            .collection("config", "collections")
            .find(Filters.and(Filters.eq("_id", namespace), Filters.ne("dropped", true)))
            .first();
    if (entry == null) {
      throw new TestbedException(namespace + " is not sharded");
    }
    return entry;
  }

  /**
   * Selects the chunks of a collection. Since version 5.0, a chunk contains the collection's UUID;
   * earlier, it contains the collection's name.
   */
  static Bson chunksOf(String namespace, BsonDocument entry) {
    return entry.containsKey("timestamp")
        ? Filters.eq("uuid", entry.get("uuid"))
        : Filters.eq("ns", namespace);
  }

  static BsonDocument withMajority(BsonDocument command) {
    return command.append("writeConcern", Admin.MAJORITY);
  }

  @Override
  public void close() {
    if (mongos != null) {
      mongos.close();
    }
    if (config != null) {
      config.close();
    }
    shards().forEach(ReplicaSet::close);
  }
}
