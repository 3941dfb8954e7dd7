package dev.onehop.testbed.standin.command;

import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/**
 * Filters with an implicit sort. Documents near a point come in the order of their distance, and a
 * mongos keeps this order when it merges several shards' documents.
 */
final class NearQuery {
  private static final Set<String> OPERATORS = Set.of("$near", "$nearSphere", "$geoNear");

  private NearQuery() {}

  /**
   * Whether there is such an operator anywhere. May return true without one, but never false with
   * one.
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
