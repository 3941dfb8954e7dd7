package dev.onehop.measure.delivery;

import org.bson.BsonBinaryWriter;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.RawBsonDocument;
import org.bson.io.BasicOutputBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A document that is written to be seen. Its key begins with a hash, which says on which shard it
 * is.
 *
 * @param run distinguishes it from those of other runs
 * @param group the test that it is written in, or the query that it belongs to
 * @param number counts the group's objects, from 0; signals, which are written last, are below zero
 * @param version counts the writes of this document, from 1
 * @param dueMicros when its write was meant to begin, by the writer's clock
 * @param beganMicros when it began
 */
record Item(int run, int group, long number, int version, long dueMicros, long beganMicros) {

  /** Without the padding. */
  static final int LEAST_BYTES = 91;

  /** The number of a signal. */
  static long signal(int index) {
    return -1L - index;
  }

  boolean isSignal() {
    return number < 0;
  }

  static BsonDocument id(int hash, int run, int group, long number) {
    return new BsonDocument("h", new BsonInt32(hash))
        .append("run", new BsonInt32(run))
        .append("g", new BsonInt32(group))
        .append("n", new BsonInt64(number));
  }

  /**
   * The document.
   *
   * @param hash which its key begins with
   * @param bytes how large it is to be; {@link #LEAST_BYTES} at least
   */
  RawBsonDocument document(int hash, int bytes) {
    try (BasicOutputBuffer buffer = new BasicOutputBuffer(bytes + 32);
        BsonBinaryWriter writer = new BsonBinaryWriter(buffer)) {
      writer.writeStartDocument();
      writer.writeStartDocument("_id");
      writer.writeInt32("h", hash);
      writer.writeInt32("run", run);
      writer.writeInt32("g", group);
      writer.writeInt64("n", number);
      writer.writeEndDocument();
      writer.writeInt32("v", version);
      writer.writeInt64("due", dueMicros);
      writer.writeInt64("at", beganMicros);
      writer.writeString("pad", "x".repeat(Math.max(0, bytes - LEAST_BYTES)));
      writer.writeEndDocument();
      return new RawBsonDocument(buffer.toByteArray());
    }
  }

  /** What finds a document by its key. */
  static BsonDocument filter(RawBsonDocument document) {
    return new BsonDocument("_id", document.get("_id"));
  }

  /** The document that an event has written; null if it is none of these. */
  static @Nullable Item ofEvent(RawBsonDocument event) {
    return event.get("fullDocument") instanceof BsonDocument document ? of(document) : null;
  }

  /** Reads a document; null if it is none of these. */
  static @Nullable Item of(BsonDocument document) {
    if (!(document.get("_id") instanceof BsonDocument id)
        || !id.isInt32("run")
        || !id.isInt32("g")
        || !id.isInt64("n")
        || !(document.get("v") instanceof BsonInt32 version)
        || !(document.get("due") instanceof BsonInt64 due)
        || !(document.get("at") instanceof BsonInt64 began)) {
      return null;
    }
    return new Item(
        id.getInt32("run").getValue(),
        id.getInt32("g").getValue(),
        id.getInt64("n").getValue(),
        version.getValue(),
        due.getValue(),
        began.getValue());
  }
}
