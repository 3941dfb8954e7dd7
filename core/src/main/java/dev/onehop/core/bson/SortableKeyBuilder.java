package dev.onehop.core.bson;

import java.util.ArrayList;
import java.util.List;
import org.bson.BsonType;
import org.bson.BsonValue;

/** Builds the key of several fields, each ascending or descending. Not thread-safe. */
public final class SortableKeyBuilder {
  private final ByteSink out;

  /**
   * Creates a builder for an empty key. The array has room for {@code capacity} bytes, and grows if
   * the key needs more.
   */
  public SortableKeyBuilder(int capacity) {
    out = new ByteSink(capacity);
  }

  /**
   * Appends a field.
   *
   * @throws MalformedBsonException if the value cannot be encoded as BSON
   */
  public SortableKeyBuilder add(BsonValue value, boolean descending) {
    int start = out.size();
    KeyEncoder.put(out, value);
    return invertedIf(descending, start);
  }

  /** Appends a field from the bytes that {@link BsonPath} has found. */
  public SortableKeyBuilder add(BsonPath.Located value, boolean descending) {
    int start = out.size();
    RawKeyEncoder.put(out, value.element());
    return invertedIf(descending, start);
  }

  /**
   * Appends the first elements of an array as fields, one per direction.
   *
   * @throws MalformedBsonException if the array has fewer elements, or the value is not an array
   */
  public SortableKeyBuilder addElements(BsonPath.Located array, boolean[] descending) {
    if (array.type() != BsonType.ARRAY) {
      throw new MalformedBsonException("expected an array, but found a " + array.type());
    }
    ElementCursor elements = array.element().open();
    for (boolean flip : descending) {
      if (!elements.next()) {
        throw new MalformedBsonException("an array of fewer elements than " + descending.length);
      }
      int start = out.size();
      RawKeyEncoder.put(out, elements);
      invertedIf(flip, start);
    }
    return this;
  }

  /** Appends an encoded field. */
  public SortableKeyBuilder add(byte[] encoded) {
    out.put(encoded, 0, encoded.length);
    return this;
  }

  /** The finished key; the builder must not be used after this. */
  public byte[] build() {
    return out.toByteArray();
  }

  /**
   * Decodes a compound key like {@link SortableKey#decode}, one value per direction.
   *
   * @throws MalformedBsonException if the bytes are not exactly this number of values
   */
  public static List<BsonValue> decode(byte[] key, boolean[] descending) {
    KeyCursor in = new KeyCursor(key);
    List<BsonValue> values = new ArrayList<>(descending.length);
    for (boolean flip : descending) {
      values.add(KeyDecoder.read(in.flipped(flip)));
    }
    if (!in.atEnd()) {
      throw in.malformed("more than " + descending.length + " values");
    }
    return values;
  }

  private SortableKeyBuilder invertedIf(boolean descending, int start) {
    if (descending) {
      out.invertFrom(start);
    }
    return this;
  }
}
