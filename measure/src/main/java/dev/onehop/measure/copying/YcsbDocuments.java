package dev.onehop.measure.copying;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.bson.BsonDocument;
import org.bson.BsonString;
import site.ycsb.Utils;

/** Documents in the format of YCSB's binding for MongoDB: ten fields of 100 bytes. */
final class YcsbDocuments {
  static final int FIELDS = 10;
  private static final int LENGTH = 100;

  private YcsbDocuments() {}

  /** Returns the key of a record. It is YCSB's key, padded to a fixed width. */
  static BsonString key(long record) {
    return padded(Utils.hash(record));
  }

  /** Returns the key of a hash. All keys have the same width, so they sort as the hashes do. */
  private static BsonString padded(long hash) {
    return new BsonString(String.format(Locale.ROOT, "user%019d", hash));
  }

  /** Returns bounds that split all keys into equal parts. */
  static List<BsonDocument> bounds(int parts) {
    return IntStream.range(1, parts)
        .mapToObj(i -> new BsonDocument("_id", padded(Long.MAX_VALUE / parts * i)))
        .toList();
  }

  static BsonDocument document(long record) {
    BsonDocument document = new BsonDocument("_id", key(record));
    for (int field = 0; field < FIELDS; field++) {
      document.append("field" + field, value());
    }
    return document;
  }

  /** Returns a value of printable characters. Like YCSB's values, it is hard to compress. */
  static BsonString value() {
    byte[] bytes = new byte[LENGTH];
    ThreadLocalRandom random = ThreadLocalRandom.current();
    for (int i = 0; i < LENGTH; i++) {
      bytes[i] = (byte) (' ' + random.nextInt(95));
    }
    return new BsonString(new String(bytes, StandardCharsets.US_ASCII));
  }
}
