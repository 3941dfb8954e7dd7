package dev.onehop.it;

import java.util.List;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.Document;

/** Documents whose {@code _id} is a number from 0 on, and the shard key of their collections. */
final class Numbered {
  static final BsonDocument KEY = new BsonDocument("_id", new BsonInt32(1));

  private Numbered() {}

  /** The lower bounds of the chunks after the first one. */
  static List<BsonDocument> splitAt(int... ids) {
    return IntStream.of(ids).mapToObj(id -> new BsonDocument("_id", new BsonInt32(id))).toList();
  }

  /** Documents with {@code _id} and {@code n} from 0 to {@code count - 1}. */
  static List<Document> documents(int count) {
    return IntStream.range(0, count).mapToObj(i -> new Document("_id", i).append("n", i)).toList();
  }
}
