package dev.onehop.core.targeting;

import dev.onehop.core.table.RoutingTable;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** Decides whether an operation compares strings by their bytes, as shard keys are compared. */
final class Collations {
  private static final String SIMPLE = "simple";

  private Collations() {}

  /**
   * Whether an operation compares strings by their bytes, as shard keys are compared. If the
   * operation has no collation, the collection's default collation decides.
   */
  static boolean isSimple(RoutingTable table, TargetingOptions options) {
    BsonDocument collation = options.collation();
    if (collation == null || collation.isEmpty()) {
      return !table.hasDefaultCollation();
    }
    BsonValue locale = collation.get("locale");
    return locale != null && locale.isString() && locale.asString().getValue().equals(SIMPLE);
  }

  /**
   * Whether other values may equal this value under a collation. They may if the value is a string
   * or may contain one.
   */
  static boolean concerns(BsonValue value) {
    return switch (value.getBsonType()) {
      case STRING, SYMBOL, DOCUMENT, ARRAY, JAVASCRIPT_WITH_SCOPE, JAVASCRIPT -> true;
      default -> false;
    };
  }
}
