package dev.onehop.copy.internal.state;

import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** Expressions of aggregations. */
final class Expressions {
  private Expressions() {}

  static BsonDocument literal(BsonValue value) {
    return new BsonDocument("$literal", value);
  }

  static BsonDocument operator(String name, BsonValue... arguments) {
    return new BsonDocument(name, new BsonArray(List.of(arguments)));
  }
}
