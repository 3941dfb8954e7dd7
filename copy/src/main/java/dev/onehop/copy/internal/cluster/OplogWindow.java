package dev.onehop.copy.internal.cluster;

import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.wire.message.CommandFailure;
import java.time.Duration;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The time for which the source's oplogs keep a change at the current rate of writes. If an oplog
 * is not full yet, the time until it is full is estimated from its entries.
 *
 * @param shard the id of the shard with the shortest time
 * @param length the shortest time
 */
public record OplogWindow(String shard, Duration length) {
  private static final double FULL = 0.9;

  /**
   * Reads the shortest window of all shards.
   *
   * @return the window; null if it is unknown, because nothing was written yet or the user may not
   *     read the oplogs
   */
  public static @Nullable OplogWindow of(ClusterEnd source) throws InterruptedException {
    OplogWindow shortest = null;
    for (Map.Entry<String, ReplicaSet> shard : source.shards().entrySet()) {
      Duration length;
      try {
        length = ofShard(source, shard.getValue());
      } catch (CommandFailure refused) {
        continue;
      }
      if (length != null && (shortest == null || length.compareTo(shortest.length()) < 0)) {
        shortest = new OplogWindow(shard.getKey(), length);
      }
    }
    return shortest;
  }

  /** How messages name the cluster or shard that has this oplog. */
  public String place() {
    return place(shard);
  }

  static String place(String shard) {
    return shard.equals(ClusterEnd.ALONE) ? "the source" : "the source's shard " + shard;
  }

  private static @Nullable Duration ofShard(ClusterEnd source, ReplicaSet servers)
      throws InterruptedException {
    Oplog oplog = new Oplog(source, servers);
    RawBsonDocument first = oplog.oldest();
    RawBsonDocument last = oplog.newest();
    RawBsonDocument size =
        Oplog.first(
            oplog.read(
                Oplog.aggregate(
                    BsonDocument.parse("{$collStats: {storageStats: {}}}"),
                    BsonDocument.parse(
                        "{$project: {size: '$storageStats.size', max:"
                            + " '$storageStats.maxSize'}}"))));
    if (first == null || last == null || size == null) {
      return null;
    }
    long seconds = last.getTimestamp("ts").getTime() - (long) first.getTimestamp("ts").getTime();
    double share =
        size.getNumber("size").doubleValue()
            / Math.max(1, size.getNumber("max", new BsonInt32(0)).doubleValue());
    if (seconds < 0 || share <= 0) {
      return null;
    }
    // At least one second, because all entries may have times within the same second.
    double length = Math.max(1, seconds);
    return Duration.ofSeconds((long) (share >= FULL ? length : length / share));
  }
}
