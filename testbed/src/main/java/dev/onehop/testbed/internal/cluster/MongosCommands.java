package dev.onehop.testbed.internal.cluster;

import dev.onehop.testbed.TestbedException;
import dev.onehop.wire.message.ErrorCodes;
import java.util.function.Function;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * Sends a mongos its documented commands: {@code addShard}, {@code enableSharding}, {@code
 * shardCollection}, {@code split}, {@code moveRange} (before 6.0 {@code moveChunk}). With access
 * control, the commands need the role {@code clusterManager}. Thread-safe.
 */
final class MongosCommands implements ClusterCommands {
  private final Admin mongos;
  private final Function<String, @Nullable BsonDocument> databaseEntry;

  /**
   * @param databaseEntry returns a database's document of config.databases, or null if there is
   *     none
   */
  MongosCommands(Admin mongos, Function<String, @Nullable BsonDocument> databaseEntry) {
    this.mongos = mongos;
    this.databaseEntry = databaseEntry;
  }

  @Override
  public void stopBalancer() {
    mongos.run("admin", new BsonDocument("balancerStop", new BsonInt32(1)));
  }

  @Override
  public void addShard(ReplicaSet shard) {
    mongos.run(
        "admin",
        new BsonDocument("addShard", new BsonString(shard.connectionString()))
            .append("name", new BsonString(shard.name())));
  }

  @Override
  public void create(
      String database,
      String collection,
      String primaryShard,
      BsonDocument key,
      @Nullable Integer initialChunks) {
    @Nullable BsonDocument existing = databaseEntry.apply(database);
    mongos.run(
        "admin",
        new BsonDocument("enableSharding", new BsonString(database))
            .append(
                "primaryShard",
                existing == null ? new BsonString(primaryShard) : existing.get("primary")));
    BsonDocument shard =
        new BsonDocument("shardCollection", new BsonString(database + "." + collection))
            .append("key", key);
    if (initialChunks != null) {
      shard.append("numInitialChunks", new BsonInt32(initialChunks));
    }
    mongos.run("admin", shard);
  }

  @Override
  public void split(String namespace, BsonDocument entry, ChunkRange chunk, BsonArray points) {
    points.forEach(
        point ->
            mongos.run(
                "admin",
                new BsonDocument("split", new BsonString(namespace)).append("middle", point)));
  }

  @Override
  public void move(String namespace, BsonDocument min, @Nullable BsonDocument max, String toShard) {
    BsonDocument command = ClusterCommands.moveRange("moveRange", namespace, min, max, toShard);
    if (!mongos.runIfKnown("admin", command)) {
      mongos.run(
          "admin",
          new BsonDocument("moveChunk", new BsonString(namespace))
              .append("find", min)
              .append("to", new BsonString(toShard)));
    }
  }

  @Override
  public void drop(String database, String collection) {
    try {
      mongos.run(database, new BsonDocument("drop", new BsonString(collection)));
    } catch (TestbedException e) {
      if (Admin.codeOf(e) != ErrorCodes.NAMESPACE_NOT_FOUND) {
        throw e;
      }
    }
  }
}
