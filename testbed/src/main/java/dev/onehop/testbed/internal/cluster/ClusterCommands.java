package dev.onehop.testbed.internal.cluster;

import dev.onehop.testbed.TestbedException;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * Changes a cluster's metadata. One implementation sends the documented commands to a mongos. The
 * other sends the commands of a mongos to config servers and shards. A refusal is a {@link
 * TestbedException}. Implementations MUST be thread-safe.
 */
interface ClusterCommands {
  /** Stops the balancer, which then moves no ranges. */
  void stopBalancer();

  /**
   * Adds an initiated replica set as a shard with its name. Does nothing if it is a shard already.
   */
  void addShard(ReplicaSet shard);

  /**
   * Creates a database and a sharded collection in it. An existing database or collection stays.
   *
   * @param primaryShard the primary shard of the database if the database is created
   * @param initialChunks the initial number of chunks for a hashed key; null for the server's
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
   * @param points the split points, inside the chunk; at least one
   */
  void split(String namespace, BsonDocument entry, ChunkRange chunk, BsonArray points);

  /**
   * Moves a range to a shard and waits until the migration is done; does nothing if the shard owns
   * the range.
   *
   * @param min lower bound of a chunk, or of a part of a chunk
   * @param max upper bound, or null for the chunk's upper bound
   */
  void move(String namespace, BsonDocument min, @Nullable BsonDocument max, String toShard);

  /**
   * Returns the command by which servers since version 6.0 execute {@link #move}.
   *
   * @param command the command's name on the receiving server
   */
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
