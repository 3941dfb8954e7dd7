package dev.onehop.jmh.core;

import dev.onehop.core.table.RoutingTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.types.ObjectId;

/**
 * A collection that is sharded by {@code _id} and split evenly. Each {@code _id} is a string like a
 * key of YCSB.
 */
final class StringChunks {
  private static final String NAMESPACE = "ycsb.usertable";
  private static final long KEYS = 1_000_000_000_000_000_000L;
  private static final BsonDocument COLLECTION =
      new BsonDocument("_id", new BsonString(NAMESPACE))
          .append("lastmodEpoch", new BsonObjectId(new ObjectId("65a000000000000000000001")))
          .append("key", new BsonDocument("_id", new BsonInt32(1)));

  private final int count;

  StringChunks(int count) {
    this.count = count;
  }

  static BsonDocument collection() {
    return COLLECTION;
  }

  int count() {
    return count;
  }

  RoutingTable table() {
    return RoutingTable.of(COLLECTION, documents());
  }

  /** Creates each document on demand, as a cursor does. */
  Iterable<BsonDocument> documents() {
    return () -> IntStream.range(0, count).mapToObj(i -> document(i, shard(i), i)).iterator();
  }

  /**
   * Returns {@code changes} chunks that are spread over the collection. Each is moved to another
   * shard, with a later version than all other chunks.
   */
  List<BsonDocument> moved(int changes) {
    List<BsonDocument> moved = new ArrayList<>();
    for (int i = 0; i < changes; i++) {
      int chunk = (int) ((long) count * i / changes);
      moved.add(document(chunk, shard(chunk + 1), count + i));
    }
    return moved;
  }

  /** Returns the lower bound of chunk {@code i}, which must not be the first chunk. */
  String split(int i) {
    return key(KEYS / count * i);
  }

  static String shard(int chunk) {
    return "shard" + chunk % 100;
  }

  static String randomKey(Random random) {
    return key(random.nextLong(KEYS));
  }

  private static String key(long number) {
    return "user%018d".formatted(number);
  }

  private BsonDocument document(int i, String shard, int version) {
    return new BsonDocument("ns", new BsonString(NAMESPACE))
        .append("min", bound(i == 0 ? new BsonMinKey() : new BsonString(split(i))))
        .append("max", bound(i == count - 1 ? new BsonMaxKey() : new BsonString(split(i + 1))))
        .append("shard", new BsonString(shard))
        .append("lastmod", new BsonTimestamp(1 + version / 1_000, version % 1_000));
  }

  private static BsonDocument bound(BsonValue value) {
    return new BsonDocument("_id", value);
  }
}
