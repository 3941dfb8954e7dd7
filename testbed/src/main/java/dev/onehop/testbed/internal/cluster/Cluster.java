package dev.onehop.testbed.internal.cluster;

import com.mongodb.client.model.Filters;
import dev.onehop.testbed.TestbedException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * The sharded cluster that config servers and shards form, with or without a mongos. Its metadata
 * is read from the config servers, and changed by {@link ClusterCommands}. Thread-safe.
 */
public final class Cluster implements AutoCloseable {
  private final ReplicaSet config;
  private final Map<String, ReplicaSet> shards = new LinkedHashMap<>();
  private final @Nullable Admin mongos;
  private final ClusterCommands commands;

  /**
   * @param config the config servers
   * @param shards in the order in which data is to be spread over them
   * @param mongos a real mongos, closed with the cluster; null where there is none, then everything
   *     is asked of the servers with the commands that a mongos would send
   */
  public Cluster(ReplicaSet config, List<ReplicaSet> shards, @Nullable Admin mongos) {
    this.config = config;
    shards.forEach(shard -> this.shards.put(shard.name(), shard));
    this.mongos = mongos;
    this.commands =
        mongos == null
            ? new ServerCommands(this)
            : new MongosCommands(mongos, this::databaseEntry);
  }

  /**
   * Sets the cluster's feature compatibility version. Before any shard is added: each takes it over
   * when it joins.
   */
  public void setFeatureCompatibilityVersion(String version) {
    config
        .primary()
        .run(
            "admin",
            withMajority(
                new BsonDocument("setFeatureCompatibilityVersion", new BsonString(version))));
  }

  /** Makes one cluster of the initiated replica sets. */
  public void form() {
    commands.stopBalancer();
    shards.values().forEach(commands::addShard);
  }

  ClusterCommands commands() {
    return commands;
  }

  public ReplicaSet config() {
    return config;
  }

  public List<ReplicaSet> shards() {
    return List.copyOf(shards.values());
  }

  /**
   * The shard of that name.
   *
   * @throws TestbedException if there is none
   */
  public ReplicaSet shard(String name) {
    @Nullable ReplicaSet shard = shards.get(name);
    if (shard == null) {
      throw new TestbedException("the cluster has no shard '" + name + "'");
    }
    return shard;
  }

  /** A database's document of config.databases; null if there is none. */
  @Nullable BsonDocument databaseEntry(String database) {
    return config
        .primary()
        .collection("config", "databases")
        .find(Filters.eq("_id", database))
        .first();
  }

  /**
   * A collection's document of config.collections.
   *
   * @throws TestbedException if it is not sharded
   */
  BsonDocument collectionEntry(String namespace) {
    @Nullable BsonDocument entry =
        config
            .primary()
            .collection("config", "collections")
            .find(Filters.and(Filters.eq("_id", namespace), Filters.ne("dropped", true)))
            .first();
    if (entry == null) {
      throw new TestbedException(namespace + " is not sharded");
    }
    return entry;
  }

  /** From 5.0 on chunks are kept by the collection's UUID, before by its name. */
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
    config.close();
    shards.values().forEach(ReplicaSet::close);
  }
}
