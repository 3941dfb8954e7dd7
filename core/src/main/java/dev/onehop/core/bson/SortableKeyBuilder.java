package dev.onehop.core.bson;

import java.util.ArrayList;
import java.util.List;
import org.bson.BsonType;
import org.bson.BsonValue;

/** Puts together the key of several fields, each ascending or descending. Not thread-safe. */
public final class SortableKeyBuilder {
  private final ByteSink out;

  /** An empty key; it grows as needed, and not at all if its final length is {@code capacity}. */
  public SortableKeyBuilder(int capacity) {
    out = new ByteSink(capacity);
  }

  /**
   * Appends one field.
   *
   * @throws MalformedBsonException if the value can't be written as BSON
   */
  public SortableKeyBuilder add(BsonValue value, boolean descending) {
    int start = out.size();
    KeyEncoder.put(out, value);
    return invertedIf(descending, start);
  }

  /** Appends one field from the bytes where {@link BsonPath} found it. */
  public SortableKeyBuilder add(BsonPath.Located value, boolean descending) {
    int start = out.size();
    RawKeyEncoder.put(out, value.element());
    return invertedIf(descending, start);
  }

  /**
   * Appends the first elements of an array as fields, as many as there are directions.
   *
   * @throws MalformedBsonException if it has fewer, or is no array
   */
  public SortableKeyBuilder addElements(BsonPath.Located array, boolean[] descending) {
    if (array.type() != BsonType.ARRAY) {
      throw new MalformedBsonException("an array was expected, and found a " + array.type());
    }
    ElementCursor elements = array.element().open();
    for (boolean flip : descending) {
      if (!elements.next()) {
        throw new MalformedBsonException("an array of fewer than " + descending.length);
      }
      int start = out.size();
      RawKeyEncoder.put(out, elements);
      invertedIf(flip, start);
    }
    return this;
  }

  /** Appends a field encoded before. */
  public SortableKeyBuilder add(byte[] encoded) {
    out.put(encoded, 0, encoded.length);
    return this;
  }

  /** The finished key; the builder must not be used after this. */
  public byte[] build() {
    return out.toByteArray();
  }

  /**
   * Reads a compound key back, as {@link SortableKey#decode} does, one value for each direction.
   *
   * @throws MalformedBsonException if these are not exactly the bytes of as many values
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
