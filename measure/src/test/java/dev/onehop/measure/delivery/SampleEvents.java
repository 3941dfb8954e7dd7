package dev.onehop.measure.delivery;

import java.util.Locale;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/** Change events in the servers' format. */
final class SampleEvents {

  private SampleEvents() {}

  /** A row of a run's first group. Its write was due and began at {@code beganMicros}. */
  static Row row(int run, long number, int version, long beganMicros) {
    return new Row(run, 0, number, version, beganMicros, beganMicros);
  }

  /** The event of a row's write, at position {@code place} among all events. */
  static RawBsonDocument of(Row row, int place, long committedMillis) {
    BsonDocument document = row.document(HashRanges.all(), ConsumeBench.ROW_BYTES);
    return raw(
        new BsonDocument(
                "_id",
                new BsonDocument(
                    "_data", new BsonString(String.format(Locale.ROOT, "82%016X2B", place))))
            .append("operationType", new BsonString(row.version() == 1 ? "insert" : "replace"))
            .append("wallTime", new BsonDateTime(committedMillis))
            .append("fullDocument", document)
            .append("documentKey", new BsonDocument("_id", document.get("_id"))));
  }

  static RawBsonDocument raw(BsonDocument document) {
    return new RawBsonDocument(document, new BsonDocumentCodec());
  }
}
