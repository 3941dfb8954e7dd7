package dev.onehop.testbed.internal.cluster;

import dev.onehop.testbed.TestbedException;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * How a cluster's metadata is changed: by a mongos' documented commands, or, where there is no
 * mongos, by what a mongos would send to config servers and shards. Whatever a server refuses is a
 * {@link TestbedException}. MUST be thread-safe.
 */
interface ClusterCommands {
  /** Keeps the balancer from moving anything by itself. */
  void stopBalancer();

  /** Makes an initiated replica set a shard of its name; does nothing if it is one. */
  void addShard(ReplicaSet shard);

  /**
   * Creates a database, unless there is one, and a sharded collection in it, unless there is one.
   *
   * @param primaryShard the database's, if it has to be created
   * @param initialChunks for a hashed key: how many chunks to begin with; null for the server's
   *     default
   */
  void create(
      String database,
      String collection,
      String primaryShard,
      BsonDocument key,
      @Nullable Integer initialChunks);

  /**
   * Splits one chunk.
   *
   * @param entry the collection's document of config.collections
   * @param points where, inside the chunk; at least one
   */
  void split(String namespace, BsonDocument entry, ChunkRange chunk, BsonArray points);

  /**
   * Moves a range to a shard and waits until it is there; does nothing if it is there already.
   *
   * @param min lower bound of a chunk, or of a part of one
   * @param max upper bound, or null for the chunk's own
   */
  void move(String namespace, BsonDocument min, @Nullable BsonDocument max, String toShard);

  /** The command that {@link #move} is from 6.0 on, by the name that the server takes it under. */
  static BsonDocument moveRange(
      String command,
      String namespace,
      BsonDocument min,
      @Nullable BsonDocument max,
      String toShard) {
    BsonDocument body =
        new BsonDocument(command, new BsonString(namespace))
            .append("toShard", new BsonString(toShard))
            .append("min", min);
    return max == null ? body : body.append("max", max);
  }

  /** Drops a collection on every shard; does nothing if there is none. */
  void drop(String database, String collection);
}
