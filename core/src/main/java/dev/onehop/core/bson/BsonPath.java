package dev.onehop.core.bson;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * A dotted path through nested documents. A path that reaches an array ends there. Immutable and
 * thread-safe.
 */
public final class BsonPath {
  private final String dotted;
  private final List<String> parts;
  private final byte[][] utf8;

  /**
   * A value found in raw bytes, not decoded yet. It is a view: the bytes must not change while it
   * is in use.
   */
  public static final class Located {
    private final ElementCursor element;

    Located(ElementCursor element) {
      this.element = element;
    }

    ElementCursor element() {
      return element;
    }

    /** The type of the value. */
    public BsonType type() {
      return element.type();
    }

    /**
     * Decodes the value.
     *
     * @throws MalformedBsonException if the value is malformed
     */
    public BsonValue value() {
      return RawValues.read(element);
    }

    /**
     * The value as a document, which is a view of the same bytes.
     *
     * @return null if the value has another type
     */
    public @Nullable RawBsonDocument document() {
      return type() == BsonType.DOCUMENT
          ? new RawBsonDocument(element.bytes(), element.valueOffset(), element.valueLength())
          : null;
    }

    /**
     * The documents of an array, which are views of the same bytes.
     *
     * @return null if the value is not an array, or the array has other values, too
     * @throws MalformedBsonException if the array is malformed
     */
    public @Nullable List<RawBsonDocument> documents() {
      if (type() != BsonType.ARRAY) {
        return null;
      }
      List<RawBsonDocument> documents = new ArrayList<>();
      ElementCursor values = element.open();
      while (values.next()) {
        if (values.type() != BsonType.DOCUMENT) {
          return null;
        }
        documents.add(
            new RawBsonDocument(values.bytes(), values.valueOffset(), values.valueLength()));
      }
      return documents;
    }
  }

  private BsonPath(String dotted) {
    this.dotted = dotted;
    parts = List.of(dotted.split("\\.", -1));
    utf8 = new byte[parts.size()][];
    for (int i = 0; i < utf8.length; i++) {
      utf8[i] = parts.get(i).getBytes(StandardCharsets.UTF_8);
    }
  }

  /**
   * The path of a field name with dots.
   *
   * @throws IllegalArgumentException if a part of the path is empty
   */
  public static BsonPath of(String dotted) {
    BsonPath path = new BsonPath(dotted);
    if (path.parts.contains("")) {
      throw new IllegalArgumentException("a path with an empty part: \"" + dotted + "\"");
    }
    return path;
  }

  /** The field names along the path, at least one. */
  public List<String> parts() {
    return parts;
  }

  /** The value at the path, or the array at which the path ends; null if there is no value. */
  public @Nullable BsonValue find(BsonDocument document) {
    BsonValue value = document.get(parts.get(0));
    for (int i = 1; i < parts.size() && value != null && !value.isArray(); i++) {
      value = value.isDocument() ? value.asDocument().get(parts.get(i)) : null;
    }
    return value;
  }

  /**
   * The decoded value at the path; null if there is no value. In a raw document, no other value is
   * decoded.
   */
  public @Nullable BsonValue value(BsonDocument document) {
    if (!(document instanceof RawBsonDocument raw)) {
      return find(document);
    }
    Located found = find(raw);
    return found == null ? null : found.value();
  }

  /**
   * Finds the value in a raw document, without decoding other values.
   *
   * @throws MalformedBsonException if the bytes before the value are not valid BSON
   */
  public @Nullable Located find(RawBsonDocument document) {
    return located(ElementCursor.of(document));
  }

  /**
   * Finds the value in a document of {@code length} bytes from {@code offset}.
   *
   * @throws MalformedBsonException if the bytes before the value are not valid BSON
   * @throws IndexOutOfBoundsException if offset and length lie outside the array
   */
  public @Nullable Located find(byte[] bytes, int offset, int length) {
    java.util.Objects.checkFromIndexSize(offset, length, bytes.length);
    return located(new ElementCursor(bytes, offset, offset + length));
  }

  private @Nullable Located located(ElementCursor fields) {
    ElementCursor element = fields.find(utf8);
    return element == null ? null : new Located(element);
  }

  @Override
  public String toString() {
    return dotted;
  }
}
