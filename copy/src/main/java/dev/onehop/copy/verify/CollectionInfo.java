package dev.onehop.copy.verify;

import java.util.List;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * A collection or a view, without its documents.
 *
 * @param namespace {@code database.collection}
 * @param type collection, view or timeseries
 * @param uuid null for a view
 * @param indexes of a collection or time series
 * @param shardKey with {@code key} and {@code unique}; null if it is not sharded
 */
record CollectionInfo(
    String namespace,
    String type,
    BsonDocument options,
    @Nullable BsonBinary uuid,
    List<BsonDocument> indexes,
    @Nullable BsonDocument shardKey) {

  boolean isView() {
    return type.equals("view");
  }

  boolean isTimeSeries() {
    return type.equals("timeseries");
  }

  /** The field whose values order and match documents. */
  String keyField() {
    return isTimeSeries()
        ? options.getDocument("timeseries").getString("timeField").getValue()
        : "_id";
  }

  /** Whether strings, also in the index of {@code _id}, are in another order than by bytes. */
  boolean hasCollation() {
    return options.isDocument("collation")
        && !options.getDocument("collation").getString("locale").getValue().equals("simple");
  }
}
