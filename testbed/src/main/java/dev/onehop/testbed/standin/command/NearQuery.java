package dev.onehop.testbed.standin.command;

import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/**
 * Detects filters with an implicit sort. The result of a query for documents near a point is in the
 * order of their distance. A mongos keeps this order when it merges the documents of several
 * shards.
 */
final class NearQuery {
  private static final Set<String> OPERATORS = Set.of("$near", "$nearSphere", "$geoNear");

  private NearQuery() {}

  /**
   * Whether a filter may contain such an operator. The result is never false for a filter with the
   * operator; it may be true for a filter without it.
   */
  static boolean isIn(BsonDocument filter) {
    return filter.entrySet().stream()
        .anyMatch(field -> OPERATORS.contains(field.getKey()) || isInValue(field.getValue()));
  }

  private static boolean isInValue(BsonValue value) {
    return value.isDocument()
        ? isIn(value.asDocument())
        : value.isArray() && value.asArray().stream().anyMatch(NearQuery::isInValue);
  }
}
