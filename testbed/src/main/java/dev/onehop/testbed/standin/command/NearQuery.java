package dev.onehop.testbed.standin.command;

import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/**
 * Detects filters that sort by distance. A server returns documents near a point in the order of
 * their distance. A mongos keeps this order when it merges the documents of several shards. The
 * stand-in cannot, and refuses such a find.
 */
final class NearQuery {
  private static final Set<String> OPERATORS = Set.of("$near", "$nearSphere", "$geoNear");

  private NearQuery() {}

  /**
   * Whether a filter may contain {@code $near} or a similar operator. The result is never false for
   * a filter with such an operator. It may be true for another filter that has a field of this
   * name.
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
