package dev.onehop.core.bson;

import java.util.Set;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;

/** Access to single fields of raw documents, without decoding the other fields. */
public final class RawFields {
  private RawFields() {}

  /**
   * Whether the name of a top-level field begins with a character.
   *
   * @param first an ASCII character
   * @throws MalformedBsonException if the bytes are not valid BSON
   */
  public static boolean anyNameBeginsWith(char first, RawBsonDocument document) {
    ElementCursor fields = ElementCursor.of(document);
    while (fields.next()) {
      if (fields.nameLength() > 0 && fields.bytes()[fields.nameOffset()] == first) {
        return true;
      }
    }
    return false;
  }

  /**
   * Decodes a document without some fields, in the same order.
   *
   * @param names the names of the fields to omit
   * @return a copy
   * @throws MalformedBsonException if the bytes are not valid BSON
   */
  public static BsonDocument without(Set<String> names, RawBsonDocument document) {
    BsonDocument rest = new BsonDocument();
    ElementCursor fields = ElementCursor.of(document);
    while (fields.next()) {
      String name = fields.name();
      if (!names.contains(name)) {
        rest.append(name, RawValues.read(fields));
      }
    }
    return rest;
  }
}
