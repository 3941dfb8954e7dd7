package dev.onehop.testbed.internal.cluster;

import dev.onehop.testbed.TestbedException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * The sharded cluster that config servers and shards form, with or without a mongos: everything is
 * asked of them with the commands a mongos would send. Thread-safe.
 */
public final class Cluster implements AutoCloseable {
  private final ReplicaSet config;
  private final Map<String, ReplicaSet> shards = new LinkedHashMap<>();

  /**
   * @param config the config servers
   * @param shards in the order in which data is to be spread over them
   */
  public Cluster(ReplicaSet config, List<ReplicaSet> shards) {
    this.config = config;
    shards.forEach(shard -> this.shards.put(shard.name(), shard));
  }

  /**
   * Makes one cluster of the initiated replica sets.
   *
   * @param featureCompatibilityVersion to set first, or null to leave the servers' own
   */
  public void form(@Nullable String featureCompatibilityVersion) {
    Admin admin = config.primary();
    if (featureCompatibilityVersion != null) {
      // Before any shard is added: each takes over the cluster's version when it joins.
      BsonDocument set =
          new BsonDocument(
              "setFeatureCompatibilityVersion", new BsonString(featureCompatibilityVersion));
      admin.run("admin", withMajority(set));
    }
    admin.run("admin", new BsonDocument("_configsvrBalancerStop", new BsonInt32(1)));
    for (ReplicaSet shard : shards.values()) {
      admin.run(
          "admin",
          withMajority(
              new BsonDocument("_configsvrAddShard", new BsonString(shard.connectionString()))
                  .append("name", new BsonString(shard.name()))));
    }
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

  static BsonDocument withMajority(BsonDocument command) {
    return command.append("writeConcern", Admin.MAJORITY);
  }

  @Override
  public void close() {
    config.close();
    shards.values().forEach(ReplicaSet::close);
  }
}
