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
 * A document that writers write and readers receive. Its {@code _id} has four fields and is the
 * shard key. The first field is a hash, which decides the row's shard. Immutable.
 *
 * @param run the number of the run, which distinguishes the row from rows of other runs
 * @param group the query that the row belongs to, or the test that wrote it
 * @param number the number of the row in its group, from 0; signals have numbers below zero
 * @param version the number of writes of this row so far, from 1
 * @param dueMicros the time when the write was due, in microseconds by {@link SteadyClock}
 * @param beganMicros the time when the write began, in microseconds by {@link SteadyClock}
 */
record Row(int run, int group, long number, int version, long dueMicros, long beganMicros) {

  /** The size of a row without padding, in bytes. */
  static final int LEAST_BYTES = 91;

  private static final BsonPath WRITTEN = BsonPath.of("fullDocument");
  private static final BsonPath COMMITTED = BsonPath.of("wallTime");
  private static final BsonPath TOKEN = BsonPath.of("_id._data");
  private static final List<BsonPath> NUMBERS =
      Stream.of("_id.run", "_id.g", "_id.n", "v", "due", "at").map(BsonPath::of).toList();

  /**
   * Returns the number of a signal. A signal is a row that is written last: its arrival shows that
   * all earlier rows have arrived.
   *
   * @param index the index of the signal, from 0
   */
  static long signal(int index) {
    return -1L - index;
  }

  boolean isSignal() {
    return number < 0;
  }

  /**
   * Returns the document of the row.
   *
   * @param hashes the ranges of the first field of the key, which depends on group and number
   * @param bytes the size of the document; {@link #LEAST_BYTES} at least
   */
  RawBsonDocument document(HashRanges hashes, int bytes) {
    try (BasicOutputBuffer buffer = new BasicOutputBuffer(bytes + 32);
        BsonBinaryWriter writer = new BsonBinaryWriter(buffer)) {
      writer.writeStartDocument();
      writer.writeStartDocument("_id");
      writer.writeInt32("h", hashes.hash(number + ((long) group << 32)));
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

  /** Returns the filter that finds a row's document by its key. */
  static BsonDocument filter(RawBsonDocument document) {
    return new BsonDocument("_id", document.get("_id"));
  }

  /** Returns the lower bound of a range of hashes, in the format of a chunk's bound. */
  static BsonDocument bound(int hash) {
    return new BsonDocument("h", new BsonInt32(hash));
  }

  /** Returns the row of a change event's document. Null if the event has no row. */
  static @Nullable Row ofEvent(RawBsonDocument event) {
    BsonPath.Located written = WRITTEN.find(event);
    RawBsonDocument document = written == null ? null : written.document();
    return document == null ? null : of(document);
  }

  /** Returns the row of a document. Null if the document is not a row. */
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
   * Returns the commit time of an event's write by the server's clock, in milliseconds since 1970.
   * Null before MongoDB 6.0, whose events have no commit time.
   */
  static @Nullable Long committedMillis(RawBsonDocument event) {
    BsonPath.Located committed = COMMITTED.find(event);
    return committed == null ? null : (Long) committed.value().asDateTime().getValue();
  }

  /**
   * Returns the resume token of an event. The order of tokens is the order of all events of a
   * cluster.
   */
  static String token(RawBsonDocument event) {
    BsonPath.Located token = TOKEN.find(event);
    if (token == null) {
      throw new IllegalArgumentException("the event has no resume token");
    }
    return token.value().asString().getValue();
  }
}
