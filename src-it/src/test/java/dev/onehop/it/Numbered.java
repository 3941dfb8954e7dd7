package dev.onehop.it;

import java.util.List;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;

/** Documents whose {@code _id} is a number from 0 on, and what a collection of them takes. */
final class Numbered {
  /** A collection's shard key. */
  static final BsonDocument KEY = new BsonDocument("_id", new BsonInt32(1));

  private Numbered() {}

  /** Where a collection is to be split. */
  static List<BsonDocument> splitAt(int... ids) {
    return IntStream.of(ids).mapToObj(id -> new BsonDocument("_id", new BsonInt32(id))).toList();
  }

  /** So many documents, {@code n} being their number too. */
  static List<Document> documents(int count) {
    return IntStream.range(0, count).mapToObj(i -> new Document("_id", i).append("n", i)).toList();
  }
}
