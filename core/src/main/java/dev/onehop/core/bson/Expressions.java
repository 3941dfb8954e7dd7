package dev.onehop.core.bson;

import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** Creates expressions of aggregations. */
public final class Expressions {
  private Expressions() {}

  /** An expression for a constant value, which the server does not evaluate. */
  public static BsonDocument literal(BsonValue value) {
    return new BsonDocument("$literal", value);
  }

  /** An operator with several arguments. */
  public static BsonDocument operator(String name, BsonValue... arguments) {
    return new BsonDocument(name, new BsonArray(List.of(arguments)));
  }
}
