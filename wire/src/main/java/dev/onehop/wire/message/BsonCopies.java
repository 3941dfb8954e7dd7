package dev.onehop.wire.message;

import java.util.Set;
import org.bson.BsonDocument;

/** Copies of parts of BSON documents. */
public final class BsonCopies {
  private BsonCopies() {}

  /** A copy of a document without some fields, in the same order. */
  public static BsonDocument without(BsonDocument document, Set<String> names) {
    BsonDocument rest = new BsonDocument();
    document.forEach(
        (name, value) -> {
          if (!names.contains(name)) {
            rest.append(name, value);
          }
        });
    return rest;
  }
}
