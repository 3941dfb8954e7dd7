package dev.onehop.measure.delivery;

import dev.onehop.core.bson.BsonPath;
import org.bson.BsonType;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * What a change event says of a row.
 *
 * @param run which run it belongs to
 * @param number the row's
 * @param version of the row
 * @param issuedMicros when its write was issued, in microseconds since 1970
 * @param committedMillis when the server has committed it, by the server's clock, in milliseconds
 *     since 1970; null before 6.0, which does not send it
 */
record RowEvent(
    int run, long number, int version, long issuedMicros, @Nullable Long committedMillis) {

  private static final BsonPath RUN = BsonPath.of("fullDocument._id.run");
  private static final BsonPath NUMBER = BsonPath.of("fullDocument._id.n");
  private static final BsonPath ISSUED = BsonPath.of("fullDocument.at");
  private static final BsonPath VALUE = BsonPath.of("fullDocument.value");
  private static final BsonPath COMMITTED = BsonPath.of("wallTime");
  private static final BsonPath TOKEN = BsonPath.of("_id._data");

  /**
   * Reads an event.
   *
   * @return null if it is none of a row: of a chunk that moved, a drop, another document
   */
  static @Nullable RowEvent of(RawBsonDocument event) {
    BsonPath.Located run = RUN.find(event);
    BsonPath.Located number = NUMBER.find(event);
    BsonPath.Located issued = ISSUED.find(event);
    BsonPath.Located value = VALUE.find(event);
    if (run == null || number == null || issued == null || value == null) {
      return null;
    }
    if (run.type() != BsonType.INT32 || number.type() != BsonType.INT64) {
      return null;
    }
    BsonPath.Located committed = COMMITTED.find(event);
    return new RowEvent(
        run.value().asInt32().getValue(),
        number.value().asInt64().getValue(),
        value.value().asString().getValue().charAt(0) - '0',
        issued.value().asInt64().getValue(),
        committed == null ? null : (Long) committed.value().asDateTime().getValue());
  }

  /** An event's resume token, whose order is that of all events of a cluster. */
  static String token(RawBsonDocument event) {
    BsonPath.Located token = TOKEN.find(event);
    if (token == null) {
      throw new IllegalArgumentException("an event without a resume token");
    }
    return token.value().asString().getValue();
  }

  /** How many bytes a document has. */
  static int size(RawBsonDocument document) {
    return document.getByteBuffer().remaining();
  }
}
