package dev.onehop.core.bson;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * A dotted path through nested documents. Arrays are not looked into: one on the way, or at the
 * end, is itself what the path leads to. Immutable and thread-safe.
 */
public final class BsonPath {
  private final String dotted;
  private final List<String> parts;
  private final byte[][] utf8;

  /**
   * A value found in raw bytes, not yet decoded. It is a view: the bytes must not change while it
   * is in use.
   */
  public static final class Located {
    private final ElementCursor element;

    private Located(ElementCursor element) {
      this.element = element;
    }

    ElementCursor element() {
      return element;
    }

    /** The type of the value found. */
    public BsonType type() {
      return element.type();
    }

    /**
     * Decodes the value.
     *
     * @throws MalformedBsonException if something inside it is broken
     */
    public BsonValue value() {
      return RawValues.read(element);
    }

    /**
     * The document found, as a view of the same bytes.
     *
     * @return null if it is of another type
     */
    public @Nullable RawBsonDocument document() {
      return type() == BsonType.DOCUMENT
          ? new RawBsonDocument(element.bytes(), element.valueOffset(), element.valueLength())
          : null;
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
   * The path that a field name with dots stands for.
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

  /** The value, or the array that is in the way, or null if the path leads nowhere. */
  public @Nullable BsonValue find(BsonDocument document) {
    BsonValue value = document.get(parts.get(0));
    for (int i = 1; i < parts.size() && value != null && !value.isArray(); i++) {
      value = value.isDocument() ? value.asDocument().get(parts.get(i)) : null;
    }
    return value;
  }

  /**
   * The same in raw bytes, without decoding what is passed over.
   *
   * @throws MalformedBsonException if the bytes on the way are no valid BSON
   */
  public @Nullable Located find(RawBsonDocument document) {
    return located(ElementCursor.of(document));
  }

  /**
   * The same in the document that fills {@code length} bytes from {@code offset}.
   *
   * @throws MalformedBsonException if the bytes on the way are no valid BSON
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
