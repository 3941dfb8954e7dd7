package dev.onehop.core.table;

import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.types.ObjectId;

/**
 * Reads fields of documents of the config database. If a field is missing or has another type, the
 * exception names the field.
 */
final class ConfigFields {
  private ConfigFields() {}

  static String string(BsonDocument document, String field, String where) {
    BsonValue value = document.get(field);
    if (value == null || !value.isString()) {
      throw unknownLayout(document, field, "string", where);
    }
    return value.asString().getValue();
  }

  static BsonDocument document(BsonDocument document, String field, String where) {
    BsonValue value = document.get(field);
    if (value == null || !value.isDocument()) {
      throw unknownLayout(document, field, "object", where);
    }
    return value.asDocument();
  }

  static BsonTimestamp timestamp(BsonDocument document, String field, String where) {
    BsonValue value = document.get(field);
    if (value == null || !value.isTimestamp()) {
      throw unknownLayout(document, field, "timestamp", where);
    }
    return value.asTimestamp();
  }

  static ObjectId objectId(BsonDocument document, String field, String where) {
    BsonValue value = document.get(field);
    if (value == null || !value.isObjectId()) {
      throw unknownLayout(document, field, "ObjectId", where);
    }
    return value.asObjectId().getValue();
  }

  static boolean flag(BsonDocument document, String field, String where) {
    BsonValue value = document.get(field);
    if (value != null && !value.isBoolean()) {
      throw unknownLayout(document, field, "boolean", where);
    }
    return value != null && value.asBoolean().getValue();
  }

  static int integer(BsonDocument document, String field, String where) {
    BsonValue value = document.get(field);
    if (value == null || !value.isNumber()) {
      throw unknownLayout(document, field, "number", where);
    }
    return value.asNumber().intValue();
  }

  static InconsistentRoutingTableException unknownLayout(
      BsonDocument document, String field, String type, String where) {
    return new InconsistentRoutingTableException(
        "unknown layout of "
            + where
            + ": no "
            + type
            + " \""
            + field
            + "\" in "
            + document.toJson());
  }
}
