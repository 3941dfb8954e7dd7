package dev.onehop.jmh.streams;

import dev.onehop.streams.internal.token.Tokens;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.types.ObjectId;

/** Insert events in the server's format, with documents of some 220 bytes. */
final class StubEvents {
  private static final int SECOND = 1_700_000_000;
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();

  private StubEvents() {}

  /**
   * Distributes events to shards at random. The times of the shards' events then interleave.
   *
   * @return the events by shard, in the order of their tokens
   */
  static List<List<RawBsonDocument>> ofShards(int shards, int events) {
    Random random = new Random(42);
    List<List<RawBsonDocument>> all = new ArrayList<>();
    for (int i = 0; i < shards; i++) {
      all.add(new ArrayList<>());
    }
    for (int i = 0; i < events; i++) {
      all.get(random.nextInt(shards)).add(insert(new BsonTimestamp(SECOND, i + 1)));
    }
    return all;
  }

  /** Returns a time after all events. */
  static BsonTimestamp end() {
    return new BsonTimestamp(SECOND + 1, 1);
  }

  private static RawBsonDocument insert(BsonTimestamp time) {
    BsonObjectId id = new BsonObjectId(new ObjectId());
    String token =
        Tokens.highWater(time)
            + "2B022C0100296E5A1004C6A9A7F1E24E4F0C8D3B5A69788796A546645F69640064"
            + id.getValue().toHexString().toUpperCase(java.util.Locale.ROOT)
            + "0004";
    BsonDocument event =
        new BsonDocument("_id", new BsonDocument("_data", new BsonString(token)))
            .append("operationType", new BsonString("insert"))
            .append("clusterTime", time)
            .append("wallTime", new BsonDateTime(time.getTime() * 1_000L))
            .append(
                "fullDocument",
                new BsonDocument("_id", id).append("value", new BsonString("v".repeat(190))))
            .append(
                "ns",
                new BsonDocument("db", new BsonString("shop"))
                    .append("coll", new BsonString("orders")))
            .append("documentKey", new BsonDocument("_id", id));
    return new RawBsonDocument(event, CODEC);
  }
}
