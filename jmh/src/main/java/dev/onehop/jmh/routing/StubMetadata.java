package dev.onehop.jmh.routing;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;

/**
 * The database {@code config} of a stubbed cluster: three shards, each with a near mongos, and one
 * collection of a thousand chunks.
 */
final class StubMetadata {
  static final int MONGOS_PORT = 27017;
  static final int SHARD_PORT = 27018;
  static final int CHUNKS = 1_000;
  static final int SHARDS = 3;

  private static final Map<String, List<BsonDocument>> CONFIG = config();

  private StubMetadata() {}

  /** Returns the lower bound of a chunk. The bound is also a key in the chunk. */
  static String key(int chunk) {
    return "user%04d".formatted(chunk);
  }

  /** Returns the documents of a collection of {@code config}. */
  static List<BsonDocument> config(String collection) {
    return CONFIG.getOrDefault(collection, List.of());
  }

  private static Map<String, List<BsonDocument>> config() {
    List<BsonDocument> shards = new ArrayList<>();
    List<BsonDocument> mongoses = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      shards.add(
          BsonDocument.parse("{_id: 's%d', host: 'rsh%d/h%d:%d'}".formatted(i, i, i, SHARD_PORT)));
      mongoses.add(
          BsonDocument.parse("{_id: 'h%d:%d', ping: {$date: 1000}}".formatted(i, MONGOS_PORT)));
    }
    BsonDocument collection =
        BsonDocument.parse(
            "{_id: 'ycsb.usertable', lastmodEpoch: {$oid: '000000000000000000000001'}, timestamp:"
                + " {$timestamp: {t: 1, i: 1}}, uuid: {$binary: {base64:"
                + " 'AAAAAAAAAAAAAAAAAAAAAA==', subType: '04'}}, key: {_id: 1}, unique: false}");
    List<BsonDocument> chunks = new ArrayList<>();
    for (int i = 0; i < CHUNKS; i++) {
      chunks.add(
          new BsonDocument("uuid", collection.get("uuid"))
              .append("min", bound(i, "{_id: {$minKey: 1}}"))
              .append("max", bound(i + 1, "{_id: {$maxKey: 1}}"))
              .append("shard", new BsonString("s" + i % SHARDS))
              .append("lastmod", new BsonTimestamp(1, i)));
    }
    return Map.of(
        "shards",
        shards,
        "mongos",
        mongoses,
        "version",
        List.of(
            BsonDocument.parse("{_id: 1, clusterId: {$oid: '0000000000000000000000aa'}}")
                .append("currentVersion", new BsonInt32(6))),
        "collections",
        List.of(collection),
        "chunks",
        chunks);
  }

  private static BsonDocument bound(int chunk, String end) {
    return chunk == 0 || chunk == CHUNKS
        ? BsonDocument.parse(end)
        : new BsonDocument("_id", new BsonString(key(chunk)));
  }
}
