package dev.onehop.core.bson;

import java.util.Set;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;

/** The fields of raw documents, without decoding those that are not asked for. */
public final class RawFields {
  private RawFields() {}

  /**
   * Whether the name of a field of the document itself begins with a character.
   *
   * @param first an ASCII character
   * @throws MalformedBsonException if the bytes are no valid BSON
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
   * Decodes a document's fields, in their order, without some.
   *
   * @param names of fields that are left out
   * @return a document of its own
   * @throws MalformedBsonException if the bytes are no valid BSON
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
