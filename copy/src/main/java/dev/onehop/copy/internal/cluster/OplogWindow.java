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
 * How long the source's oplogs keep a change, at the present rate of writes. For an oplog that is
 * not full, this assumes the rate of its writes so far.
 *
 * @param shard the shard whose oplog loses changes first
 * @param length how long it keeps them
 */
public record OplogWindow(String shard, Duration length) {
  private static final double FULL = 0.9;

  /**
   * The shortest window of all shards.
   *
   * @return null if no window is known: nothing was written yet, or the user may not read the
   *     oplogs
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

  /** The place of the oplog, in words. */
  public String place() {
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
    // All entries may be of one second.
    double length = Math.max(1, seconds);
    return Duration.ofSeconds((long) (share >= FULL ? length : length / share));
  }
}
