package dev.onehop.testbed.internal.cluster;

import static dev.onehop.testbed.internal.cluster.Cluster.withMajority;

import com.mongodb.client.model.Filters;
import dev.onehop.testbed.TestbedException;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.conversions.Bson;
import org.jspecify.annotations.Nullable;

/**
 * Sends config servers and shards the internal commands that a mongos 6.0 sends them. With access
 * control, the commands need the privilege {@code internal} on the cluster. Thread-safe.
 */
final class ServerCommands implements ClusterCommands {

  private final Cluster cluster;

  ServerCommands(Cluster cluster) {
    this.cluster = cluster;
  }

  @Override
  public void stopBalancer() {
    config().run("admin", new BsonDocument("_configsvrBalancerStop", new BsonInt32(1)));
  }

  @Override
  public void addShard(ReplicaSet shard) {
    config()
        .run(
            "admin",
            withMajority(
                new BsonDocument("_configsvrAddShard", new BsonString(shard.connectionString()))
                    .append("name", new BsonString(shard.name()))));
  }

  @Override
  public void create(
      String database,
      String collection,
      String primaryShard,
      BsonDocument key,
      @Nullable Integer initialChunks) {
    createDatabase(database, primaryShard, false);
    if (!databaseEntry(database).getBoolean("partitioned", BsonBoolean.TRUE).getValue()) {
      // Enabling sharding is a separate step below feature compatibility version 6.0.
      createDatabase(database, primaryShard, true);
    }
    BsonDocument databaseEntry = databaseEntry(database);
    BsonDocument create =
        new BsonDocument("_shardsvrCreateCollection", new BsonString(collection))
            .append("shardKey", key)
            .append("databaseVersion", databaseEntry.get("version"));
    if (initialChunks != null) {
      create.append("numInitialChunks", new BsonInt32(initialChunks));
    }
    primaryShard(databaseEntry).run(database, withMajority(create));
  }

  private void createDatabase(String database, String primaryShard, boolean enableSharding) {
    @Nullable BsonDocument existing = cluster.databaseEntry(database);
    BsonDocument create =
        new BsonDocument("_configsvrCreateDatabase", new BsonString(database))
            .append(
                "primaryShardId",
                existing == null ? new BsonString(primaryShard) : existing.get("primary"));
    if (enableSharding) {
      create.append("enableSharding", BsonBoolean.TRUE);
    }
    config().run("admin", withMajority(create));
  }

  @Override
  public void split(String namespace, BsonDocument entry, ChunkRange chunk, BsonArray points) {
    BsonDocument command =
        new BsonDocument("splitChunk", new BsonString(namespace))
            .append("keyPattern", entry.getDocument("key"))
            .append("min", chunk.min())
            .append("max", chunk.max())
            .append("from", new BsonString(chunk.shard()))
            .append("splitKeys", points)
            .append("epoch", entry.get("lastmodEpoch"));
    if (entry.containsKey("timestamp")) {
      command.append("timestamp", entry.get("timestamp"));
    }
    cluster.shard(chunk.shard()).primary().run("admin", command);
  }

  @Override
  public void move(String namespace, BsonDocument min, @Nullable BsonDocument max, String toShard) {
    BsonDocument command =
        ClusterCommands.moveRange("_configsvrMoveRange", namespace, min, max, toShard);
    if (!config().runIfKnown("admin", withMajority(command))) {
      moveChunk(namespace, min, toShard);
    }
  }

  /**
   * Moves a whole chunk, because servers before 6.0 cannot move a part of a chunk. The command
   * names the chunk's version.
   */
  private void moveChunk(String namespace, BsonDocument min, String toShard) {
    BsonDocument entry = cluster.collectionEntry(namespace);
    Bson ofCollection = Cluster.chunksOf(namespace, entry);
    @Nullable BsonDocument chunk =
        config()
            .collection("config", "chunks")
            .find(Filters.and(ofCollection, Filters.eq("min", min)))
            .first();
    if (chunk == null) {
      throw new TestbedException("%s has no chunk that begins at %s".formatted(namespace, min));
    }
    if (chunk.getString("shard").getValue().equals(toShard)) {
      return;
    }
    BsonDocument command =
        new BsonDocument("_configsvrMoveChunk", new BsonInt32(1))
            .append("ns", new BsonString(namespace))
            .append("min", chunk.get("min"))
            .append("max", chunk.get("max"))
            .append("shard", chunk.get("shard"))
            .append("lastmod", chunk.get("lastmod"))
            .append("lastmodEpoch", entry.get("lastmodEpoch"));
    if (entry.containsKey("timestamp")) {
      command.append("lastmodTimestamp", entry.get("timestamp"));
    }
    if (chunk.containsKey("uuid")) {
      command.append("uuid", chunk.get("uuid"));
    }
    command
        .append("toShard", new BsonString(toShard))
        .append("maxChunkSizeBytes", new BsonInt64(0))
        .append("secondaryThrottle", new BsonDocument())
        .append("waitForDelete", BsonBoolean.FALSE)
        .append("forceJumbo", BsonBoolean.FALSE);
    config().run("admin", withMajority(command));
  }

  @Override
  public void drop(String database, String collection) {
    @Nullable BsonDocument databaseEntry = cluster.databaseEntry(database);
    if (databaseEntry != null) {
      primaryShard(databaseEntry)
          .run(
              database,
              withMajority(
                  new BsonDocument("_shardsvrDropCollection", new BsonString(collection))
                      .append("databaseVersion", databaseEntry.get("version"))));
    }
  }

  private BsonDocument databaseEntry(String database) {
    @Nullable BsonDocument entry = cluster.databaseEntry(database);
    if (entry == null) {
      throw new TestbedException("there is no database " + database);
    }
    return entry;
  }

  private Admin primaryShard(BsonDocument databaseEntry) {
    return cluster.shard(databaseEntry.getString("primary").getValue()).primary();
  }

  private Admin config() {
    return cluster.config().primary();
  }
}
