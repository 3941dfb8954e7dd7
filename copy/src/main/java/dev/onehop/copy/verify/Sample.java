package dev.onehop.copy.verify;

import dev.onehop.core.bson.SortableKey;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;

/**
 * Keys and sizes of a random sample of documents.
 *
 * @param keys the keys in their order
 * @param averageSize the average size of the documents in bytes
 * @param largestSize the size of the largest document in bytes
 */
record Sample(List<BsonValue> keys, long averageSize, long largestSize) {
  static final Sample EMPTY = new Sample(List.of(), 1, 1);

  static Sample of(List<RawBsonDocument> documents, String field) {
    if (documents.isEmpty()) {
      return EMPTY;
    }
    SortedMap<byte[], BsonValue> keys = new TreeMap<>(SortableKey::compare);
    long bytes = 0;
    long largest = 1;
    for (RawBsonDocument document : documents) {
      BsonValue key = Objects.requireNonNull(document.get(field));
      if (key.getBsonType() != BsonType.MAX_KEY) {
        keys.put(SortableKey.encode(key), key);
      }
      long size = document.getNumber("size").longValue();
      bytes += size;
      largest = Math.max(largest, size);
    }
    return new Sample(List.copyOf(keys.values()), Math.max(1, bytes / documents.size()), largest);
  }
}
