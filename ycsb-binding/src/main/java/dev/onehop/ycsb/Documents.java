package dev.onehop.ycsb;

import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.ReplaceOptions;
import java.util.Map;
import java.util.Set;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/**
 * YCSB records as MongoDB documents: the key as a string in {@code _id}, each field as binary data.
 * YCSB's own MongoDB binding has the same format, so each binding can read the other's data.
 */
final class Documents {
  static final BsonDocument PING = new BsonDocument("ping", new BsonInt32(1));
  static final BsonDocument BY_ID = new BsonDocument("_id", new BsonInt32(1));
  static final ReplaceOptions UPSERT = new ReplaceOptions().upsert(true);
  static final BulkWriteOptions UNORDERED = new BulkWriteOptions().ordered(false);

  private Documents() {}

  static BsonDocument record(String key, Map<String, ByteIterator> values) {
    BsonDocument document = withKey(key);
    document.putAll(fields(values));
    return document;
  }

  /** A document with only the key: the filter for a record, and the first field of a new record. */
  static BsonDocument withKey(String key) {
    return new BsonDocument("_id", new BsonString(key));
  }

  /** The filter for the records from {@code startKey} on. */
  static BsonDocument fromKey(String startKey) {
    return new BsonDocument("_id", new BsonDocument("$gte", new BsonString(startKey)));
  }

  static BsonDocument set(Map<String, ByteIterator> values) {
    return new BsonDocument("$set", fields(values));
  }

  /**
   * The projection on {@code fields}. In YCSB null means all fields; then there is no projection.
   */
  static @Nullable BsonDocument projection(@Nullable Set<String> fields) {
    if (fields == null || fields.isEmpty()) {
      return null;
    }
    BsonDocument projection = new BsonDocument();
    fields.forEach(field -> projection.put(field, new BsonInt32(1)));
    return projection;
  }

  /** Adds the document's binary fields to {@code result}. YCSB writes no other fields. */
  static void read(BsonDocument document, Map<String, ByteIterator> result) {
    for (Map.Entry<String, BsonValue> entry : document.entrySet()) {
      if (entry.getValue() instanceof BsonBinary binary) {
        result.put(entry.getKey(), new ByteArrayByteIterator(binary.getData()));
      }
    }
  }

  private static BsonDocument fields(Map<String, ByteIterator> values) {
    BsonDocument fields = new BsonDocument();
    values.forEach((name, value) -> fields.put(name, new BsonBinary(value.toArray())));
    return fields;
  }
}
