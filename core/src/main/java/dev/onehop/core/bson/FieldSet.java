package dev.onehop.core.bson;

import dev.onehop.core.bson.BsonPath.Located;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/** Top-level fields that are found in one pass over a document. Immutable and thread-safe. */
public final class FieldSet {
  private final byte[][] names;

  private FieldSet(byte[][] names) {
    this.names = names;
  }

  /** The fields with these names. */
  public static FieldSet of(String... names) {
    return new FieldSet(
        List.of(names).stream()
            .map(name -> name.getBytes(StandardCharsets.UTF_8))
            .toArray(byte[][]::new));
  }

  /**
   * Finds the fields in a raw document, without decoding their values.
   *
   * @return a value for each name, in the order of the names; null for a field that the document
   *     does not have. If several fields have the same name, the first is found
   * @throws MalformedBsonException if the bytes are not valid BSON
   */
  public @Nullable Located[] find(RawBsonDocument document) {
    @Nullable Located[] found = new Located[names.length];
    ElementCursor fields = ElementCursor.of(document);
    while (fields.next()) {
      for (int i = 0; i < names.length; i++) {
        if (found[i] == null && fields.isNamed(names[i])) {
          found[i] = new Located(fields.copy());
          break;
        }
      }
    }
    return found;
  }
}
