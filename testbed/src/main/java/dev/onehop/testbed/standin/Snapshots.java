package dev.onehop.testbed.standin;

import dev.onehop.shards.cluster.ClusterClock;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** Snapshot reads: several shards return their data of the same cluster time. */
final class Snapshots {
  private static final BsonString SNAPSHOT = new BsonString("snapshot");

  private Snapshots() {}

  /**
   * Returns a snapshot read concern with the current cluster time added. Null if the read concern
   * is not a snapshot, or already has a time.
   */
  static @Nullable BsonDocument timed(BsonDocument readConcern, ClusterClock clock) {
    BsonDocument clusterTime = clock.clusterTime();
    if (!SNAPSHOT.equals(readConcern.get("level"))
        || readConcern.containsKey("atClusterTime")
        || clusterTime == null) {
      return null;
    }
    BsonTimestamp time = ClusterClock.time(clusterTime);
    BsonDocument fixed = new BsonDocument();
    for (Map.Entry<String, BsonValue> field : readConcern.entrySet()) {
      if (!field.getKey().equals("afterClusterTime")) {
        fixed.append(field.getKey(), field.getValue());
      } else if (field.getValue().asTimestamp().compareTo(time) > 0) {
        time = field.getValue().asTimestamp();
      }
    }
    return fixed.append("atClusterTime", time);
  }

  /** Returns a reply with the time of the snapshot. The client sends this time with later reads. */
  static BsonDocument withTime(BsonTimestamp time, BsonDocument reply) {
    if (!reply.isDocument("cursor")) {
      return reply;
    }
    BsonDocument cursor = new BsonDocument();
    cursor.putAll(reply.getDocument("cursor"));
    cursor.put("atClusterTime", time);
    BsonDocument copy = new BsonDocument();
    copy.putAll(reply);
    copy.put("cursor", cursor);
    return copy;
  }
}
