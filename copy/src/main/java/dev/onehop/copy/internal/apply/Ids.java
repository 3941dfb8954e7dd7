package dev.onehop.copy.internal.apply;

import dev.onehop.core.bson.SortableKey;
import java.nio.ByteBuffer;
import org.bson.BsonValue;

/**
 * Converts values of {@code _id} to keys of maps. Two keys are equal if a server treats the two
 * values as equal.
 */
final class Ids {
  private Ids() {}

  static ByteBuffer key(BsonValue id) {
    return ByteBuffer.wrap(SortableKey.encode(id));
  }
}
