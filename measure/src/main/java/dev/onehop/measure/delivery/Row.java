package dev.onehop.measure.delivery;

import dev.onehop.core.bson.BsonPath;
import java.util.List;
import java.util.stream.Stream;
import org.bson.BsonBinaryWriter;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.io.BasicOutputBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A document that is written to be read. Its {@code _id} has four fields and is the shard key. The
 * first field is a hash, which decides the shard of the row. Immutable.
 *
 * @param run distinguishes the row from rows of other runs
 * @param group the query that the row belongs to, or the test that wrote it
 * @param number counts the group's rows, from 0; numbers of signals are below zero
 * @param version counts the writes of this row, from 1
 * @param dueMicros the time when its write was due, by {@link SteadyClock}
 * @param beganMicros the time when its write began
 */
record Row(int run, int group, long number, int version, long dueMicros, long beganMicros) {

  /** The size of a row without padding. */
  static final int LEAST_BYTES = 91;

  private static final BsonPath WRITTEN = BsonPath.of("fullDocument");
  private static final BsonPath COMMITTED = BsonPath.of("wallTime");
  private static final BsonPath TOKEN = BsonPath.of("_id._data");
  private static final List<BsonPath> NUMBERS =
      Stream.of("_id.run", "_id.g", "_id.n", "v", "due", "at").map(BsonPath::of).toList();

  /**
   * The number of a signal: a row that is written last, so that its arrival shows that all earlier
   * rows have arrived.
   *
   * @param index counts signals from 0
   */
  static long signal(int index) {
    return -1L - index;
  }

  boolean isSignal() {
    return number < 0;
  }

  /**
   * The document.
   *
   * @param hash the first field of its key
   * @param bytes its size; {@link #LEAST_BYTES} at least
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

  /** The filter that finds a row's document by its key. */
  static BsonDocument filter(RawBsonDocument document) {
    return new BsonDocument("_id", document.get("_id"));
  }

  /** The lower bound of a range of hashes, as a bound of a chunk. */
  static BsonDocument bound(int hash) {
    return new BsonDocument("h", new BsonInt32(hash));
  }

  /** The row that a change event has written; null if the event wrote none. */
  static @Nullable Row ofEvent(RawBsonDocument event) {
    BsonPath.Located written = WRITTEN.find(event);
    RawBsonDocument document = written == null ? null : written.document();
    return document == null ? null : of(document);
  }

  /** The row of a document; null if the document is not a row. */
  static @Nullable Row of(RawBsonDocument document) {
    long[] numbers = new long[NUMBERS.size()];
    for (int i = 0; i < numbers.length; i++) {
      BsonPath.Located found = NUMBERS.get(i).find(document);
      BsonValue value = found == null ? null : found.value();
      if (value == null || !value.isNumber()) {
        return null;
      }
      numbers[i] = value.asNumber().longValue();
    }
    return new Row(
        (int) numbers[0], (int) numbers[1], numbers[2], (int) numbers[3], numbers[4], numbers[5]);
  }

  /**
   * The commit time of an event's write by the server's clock, in milliseconds since 1970; null
   * before MongoDB 6.0, whose events do not have it.
   */
  static @Nullable Long committedMillis(RawBsonDocument event) {
    BsonPath.Located committed = COMMITTED.find(event);
    return committed == null ? null : (Long) committed.value().asDateTime().getValue();
  }

  /** An event's resume token. The order of tokens is the order of all events of a cluster. */
  static String token(RawBsonDocument event) {
    BsonPath.Located token = TOKEN.find(event);
    if (token == null) {
      throw new IllegalArgumentException("an event without a resume token");
    }
    return token.value().asString().getValue();
  }
}
