package dev.onehop.jmh.direct;

import java.util.concurrent.ThreadLocalRandom;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonString;

/**
 * The documents that the raw socket and direct mode read and update. Like YCSB's documents, they
 * have ten fields of a hundred bytes.
 */
final class Records {
  static final String DATABASE = "floor";
  static final String COLLECTION = "records";
  private static final int FIELDS = 10;
  private static final int FIELD_BYTES = 100;

  private Records() {}

  static String key(int record) {
    return "user%08d".formatted(record);
  }

  static BsonDocument document(int record) {
    BsonDocument document = new BsonDocument("_id", new BsonString(key(record)));
    for (int i = 0; i < FIELDS; i++) {
      document.append("field" + i, field());
    }
    return document;
  }

  static BsonDocument change(int record) {
    return new BsonDocument("$set", new BsonDocument("field" + record % FIELDS, field()));
  }

  private static BsonBinary field() {
    byte[] bytes = new byte[FIELD_BYTES];
    ThreadLocalRandom.current().nextBytes(bytes);
    return new BsonBinary(bytes);
  }
}
