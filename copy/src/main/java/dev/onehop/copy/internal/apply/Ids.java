package dev.onehop.copy.internal.apply;

import dev.onehop.core.bson.SortableKey;
import java.nio.ByteBuffer;
import org.bson.BsonValue;

/** Values of {@code _id} as keys of maps: equal if a server treats the values as equal. */
final class Ids {
  private Ids() {}

  static ByteBuffer key(BsonValue id) {
    return ByteBuffer.wrap(SortableKey.encode(id));
  }
}
