package dev.onehop.copy.internal.full;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import dev.onehop.copy.internal.full.PrimaryCursors.Name;
import dev.onehop.copy.internal.structure.CollectionSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.ByteBuf;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Creates the commands that find the documents of ranges of a collection. Thread-safe.
 *
 * @param filter matches the documents that are copied; null for all documents
 * @param start the earliest cluster time of a read
 */
record RangeFinds(
    CopiedCollection collection,
    Name called,
    @Nullable BsonDocument filter,
    BsonTimestamp start,
    int batchSize) {
  private static final String RECORD_ID = "$recordId";

  // The number of bytes of the field $recordId: its type, its name with a final zero, and a value
  // of 64 bits.
  private static final int RECORD_ID_BYTES = 1 + RECORD_ID.length() + 1 + Long.BYTES;

  private BsonDocument find() {
    return new BsonDocument("find", called.collection())
        .append("batchSize", new BsonInt32(batchSize))
        .append("readConcern", ReadConcern.MAJORITY.asDocument().append("afterClusterTime", start))
        .append("$readPreference", ReadPreference.primary().toDocument())
        .append("$db", new BsonString(called.database()));
  }

  /** Finds the newest document of a capped collection. */
  BsonDocument newest() {
    return find()
        .append("hint", new BsonDocument("$natural", new BsonInt32(-1)))
        .append("limit", new BsonInt32(1))
        .append("singleBatch", BsonBoolean.TRUE)
        .append("showRecordId", BsonBoolean.TRUE);
  }

  /**
   * Finds the documents of a range, in the order of the collection's index.
   *
   * @param min the lower bound, inclusive
   * @param max the upper bound, exclusive
   */
  BsonDocument between(BsonDocument min, BsonDocument max) {
    BsonDocument find = find();
    List<BsonDocument> filters = new ArrayList<>();
    if (filter != null) {
      filters.add(filter);
    }
    boolean highest = KeyRange.isHighest(min);
    if (highest) {
      collection
          .key()
          .forEach(
              (field, direction) ->
                  filters.add(
                      new BsonDocument(
                          field,
                          new BsonDocument(
                              "$eq",
                              isDescending(direction) ? new BsonMinKey() : new BsonMaxKey()))));
    }
    if (!filters.isEmpty()) {
      find.append("filter", new BsonDocument("$and", new BsonArray(filters)));
    }
    BsonDocument index = called.withoutIndex() ? null : collection.index();
    if (index == null) {
      find.append("hint", new BsonDocument("$natural", new BsonInt32(1)));
      if (collection.spec().isCapped()) {
        find.append("showRecordId", BsonBoolean.TRUE);
      }
    } else {
      BsonDocument fields = index.getDocument("key");
      if (index.containsKey("name")) {
        // An index with a name is not the index of _id. It has the simple collation, so the command
        // needs this collation, too.
        find.append("hint", index.get("name"));
        find.append("collation", CollectionSpec.SIMPLE);
      } else {
        find.append("hint", fields);
      }
      if (!highest && !KeyRange.isLowest(min)) {
        find.append("min", extended(min, fields));
      }
      if (!highest && !KeyRange.isHighest(max)) {
        find.append("max", extended(max, fields));
      }
    }
    return find;
  }

  /** A document's record id, which rises in the order of insertion into a capped collection. */
  static long recordId(RawBsonDocument document) {
    return document.getInt64(RECORD_ID).getValue();
  }

  /** The document without the field {@code $recordId}, which is its last field. */
  static RawBsonDocument withoutRecordId(RawBsonDocument document) {
    ByteBuf bytes = document.getByteBuffer();
    int length = bytes.remaining() - RECORD_ID_BYTES;
    byte[] own = new byte[length];
    bytes.get(own, 0, length - 1);
    ByteBuffer.wrap(own).order(ByteOrder.LITTLE_ENDIAN).putInt(0, length);
    return new RawBsonDocument(own);
  }

  private static boolean isDescending(BsonValue direction) {
    return direction.isNumber() && direction.asNumber().doubleValue() < 0;
  }

  /**
   * Extends a bound to all fields of an index. The extended bound is before all index keys that
   * begin with the bound.
   */
  private static BsonDocument extended(BsonDocument bound, BsonDocument index) {
    BsonDocument extended = new BsonDocument();
    for (Map.Entry<String, BsonValue> field : index.entrySet()) {
      BsonValue value = bound.get(field.getKey());
      if (value == null) {
        value = isDescending(field.getValue()) ? new BsonMaxKey() : new BsonMinKey();
      }
      extended.append(field.getKey(), value);
    }
    return extended;
  }
}
