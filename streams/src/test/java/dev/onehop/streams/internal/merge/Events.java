package dev.onehop.streams.internal.merge;

import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/** Events as servers send them. */
final class Events {
  private Events() {}

  /** A token of a shard's event at a time. */
  static String token(long time, String shard, int number) {
    return "82%016X2B022C0100296E5A%02X%08X04".formatted(time, (int) shard.charAt(0), number);
  }

  static String highWater(long time) {
    return "82%016X2B0229296E04".formatted(time);
  }

  static BsonTimestamp at(long time) {
    return new BsonTimestamp(time);
  }

  static RawBsonDocument event(String token, String type, int key, int value) {
    BsonDocument event =
        new BsonDocument("_id", new BsonDocument("_data", new BsonString(token)))
            .append("operationType", new BsonString(type))
            .append("value", new BsonInt32(value));
    if (!type.equals("drop")) {
      event.append("documentKey", new BsonDocument("_id", new BsonInt32(key)));
    }
    return new RawBsonDocument(event, new BsonDocumentCodec());
  }

  static RawBsonDocument insert(long time, String shard, int key, int value) {
    return event(token(time, shard, value), "insert", key, value);
  }

  static Item item(RawBsonDocument event) {
    return new Item(ShardReader.token(event), event, Item.Kind.EVENT, 0);
  }
}
