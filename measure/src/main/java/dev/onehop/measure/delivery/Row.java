package dev.onehop.measure.delivery;

import org.bson.BsonBinaryWriter;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.RawBsonDocument;
import org.bson.io.BasicOutputBuffer;

/**
 * A row as it is written: 220 bytes, four fields that are its key, of which the first is a hash,
 * and two others. The key is the document's {@code _id}, and the shard key.
 *
 * @param run which run it belongs to, which distinguishes it from rows of others
 * @param number counts the run's rows, from 0
 * @param version counts the writes of this row, from 1
 * @param issuedMicros when the write was issued, in microseconds since 1970
 */
record Row(int run, long number, int version, long issuedMicros) {

  /** Of the document. */
  static final int BYTES = 220;

  private static final int FIXED_BYTES = 89;
  private static final String FILLER =
      "abcdefghijklmnopqrstuvwxyz".repeat(5).substring(0, BYTES - FIXED_BYTES - 1);

  /** The row's document; its value begins with the version. */
  RawBsonDocument document(HashRanges hashes) {
    try (BasicOutputBuffer bytes = new BasicOutputBuffer(256);
        BsonBinaryWriter writer = new BsonBinaryWriter(bytes)) {
      writer.writeStartDocument();
      writer.writeStartDocument("_id");
      writer.writeInt32("h", hashes.hash(number));
      writer.writeString("user", user());
      writer.writeInt32("run", run);
      writer.writeInt64("n", number);
      writer.writeEndDocument();
      writer.writeInt64("at", issuedMicros);
      writer.writeString("value", (char) ('0' + version) + FILLER);
      writer.writeEndDocument();
      return new RawBsonDocument(bytes.toByteArray());
    }
  }

  private String user() {
    return "user-" + String.valueOf(10_000_000 + number % 10_000_000).substring(1);
  }

  /** What finds the row by its key. */
  static BsonDocument filter(RawBsonDocument document) {
    return new BsonDocument("_id", document.get("_id"));
  }

  /** Where a range of hashes begins, as a bound of a chunk. */
  static BsonDocument bound(int hash) {
    return new BsonDocument("h", new BsonInt32(hash));
  }
}
