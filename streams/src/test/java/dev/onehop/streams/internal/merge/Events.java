package dev.onehop.streams.internal.merge;

import dev.onehop.streams.internal.token.Tokens;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/** Creates events as servers send them. */
final class Events {
  private Events() {}

  /** A token of a shard's event at a time. */
  static String token(long time, String shard, int number) {
    return "82%016X2B022C0100296E5A%02X%08X04".formatted(time, (int) shard.charAt(0), number);
  }

  /**
   * A token of an event in a transaction. If a transaction is on several shards, the tokens of the
   * shards alternate.
   */
  static String partToken(long time, int index, String shard, int number) {
    return "82%016X2B022C01002B%02X6E5A%02X%08X04"
        .formatted(time, index, (int) shard.charAt(0), number);
  }

  static String highWater(long time) {
    return "82%016X2B0229296E04".formatted(time);
  }

  static BsonTimestamp at(long time) {
    return new BsonTimestamp(time);
  }

  static BsonTimestamp seconds(int seconds) {
    return new BsonTimestamp(seconds, 0);
  }

  static RawBsonDocument event(String token, String type, int key, int value) {
    BsonDocument event =
        new BsonDocument("_id", new BsonDocument("_data", new BsonString(token)))
            .append("operationType", new BsonString(type))
            .append("clusterTime", Tokens.clusterTime(token))
            .append("value", new BsonInt32(value));
    if (!type.equals("drop")) {
      event.append("documentKey", new BsonDocument("_id", new BsonInt32(key)));
    }
    return raw(event);
  }

  static RawBsonDocument raw(BsonDocument event) {
    return new RawBsonDocument(event, new BsonDocumentCodec());
  }

  static BsonDocument copy(BsonDocument event) {
    BsonDocument copy = new BsonDocument();
    copy.putAll(event);
    return copy;
  }

  /**
   * The same event as a part of the transaction with this number. The session is always the same.
   */
  static RawBsonDocument inTransaction(RawBsonDocument event, long number) {
    return raw(
        copy(event)
            .append("lsid", new BsonDocument("id", new BsonInt32(1)))
            .append("txnNumber", new BsonInt64(number)));
  }

  static RawBsonDocument insert(long time, String shard, int key, int value) {
    return event(token(time, shard, value), "insert", key, value);
  }

  static Item item(RawBsonDocument event) {
    return new Item(ShardReader.token(event), event, Item.Kind.EVENT, 0);
  }
}
