package dev.onehop.core.bson;

import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** Expressions of aggregations. */
public final class Expressions {
  private Expressions() {}

  /** A value as it is, even if it looks like an expression. */
  public static BsonDocument literal(BsonValue value) {
    return new BsonDocument("$literal", value);
  }

  /** An operator with several arguments. */
  public static BsonDocument operator(String name, BsonValue... arguments) {
    return new BsonDocument(name, new BsonArray(List.of(arguments)));
  }
}
