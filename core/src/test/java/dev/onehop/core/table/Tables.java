package dev.onehop.core.table;

import java.util.ArrayList;
import java.util.List;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.types.ObjectId;

/** Routing tables for tests, from documents in the format of a 5.0 config database. */
public final class Tables {
  public static final String NAMESPACE = "db.c";
  public static final ObjectId EPOCH = new ObjectId("65a000000000000000000001");
  public static final BsonTimestamp INCARNATION = new BsonTimestamp(1_700_000_000, 1);
  public static final BsonBinary UUID =
      new BsonBinary((byte) 4, new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});

  private Tables() {}

  /**
   * Chunk i lies between the split points i - 1 and i. It is on shard {@code s<i>}, with i in two
   * digits, and has the version {@code 1|i}.
   */
  public static RoutingTable split(String key, String... splitPoints) {
    return RoutingTable.of(collection(key), chunks(BsonDocument.parse(key), points(splitPoints)));
  }

  public static BsonDocument collection(String key) {
    return new BsonDocument("_id", new BsonString(NAMESPACE))
        .append("lastmodEpoch", new BsonObjectId(EPOCH))
        .append("timestamp", INCARNATION)
        .append("uuid", UUID)
        .append("key", BsonDocument.parse(key));
  }

  public static List<BsonDocument> chunks(BsonDocument key, List<BsonDocument> splitPoints) {
    List<BsonDocument> bounds = new ArrayList<>();
    bounds.add(lowest(key));
    bounds.addAll(splitPoints);
    bounds.add(highest(key));
    List<BsonDocument> chunks = new ArrayList<>();
    for (int i = 0; i + 1 < bounds.size(); i++) {
      chunks.add(chunk(bounds.get(i), bounds.get(i + 1), shard(i), 1, i));
    }
    return chunks;
  }

  public static BsonDocument chunk(
      BsonDocument min, BsonDocument max, String shard, int major, int minor) {
    return new BsonDocument("uuid", UUID)
        .append("min", min)
        .append("max", max)
        .append("shard", new BsonString(shard))
        .append("lastmod", new BsonTimestamp(major, minor));
  }

  public static BsonDocument chunk(String min, String max, String shard, int major, int minor) {
    return chunk(BsonDocument.parse(min), BsonDocument.parse(max), shard, major, minor);
  }

  public static List<BsonDocument> points(String... json) {
    List<BsonDocument> points = new ArrayList<>();
    for (String point : json) {
      points.add(BsonDocument.parse(point));
    }
    return points;
  }

  public static String shard(int chunk) {
    return "s%02d".formatted(chunk);
  }

  public static BsonDocument lowest(BsonDocument key) {
    BsonDocument bound = new BsonDocument();
    key.forEach(
        (path, kind) ->
            bound.append(path, descends(key, path) ? new BsonMaxKey() : new BsonMinKey()));
    return bound;
  }

  public static BsonDocument highest(BsonDocument key) {
    BsonDocument bound = new BsonDocument();
    key.forEach(
        (path, kind) ->
            bound.append(path, descends(key, path) ? new BsonMinKey() : new BsonMaxKey()));
    return bound;
  }

  private static boolean descends(BsonDocument key, String path) {
    return key.isNumber(path) && key.getNumber(path).intValue() < 0;
  }
}
