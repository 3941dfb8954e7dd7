package dev.onehop.routing.internal.client;

import dev.onehop.core.table.ShardKeyField;
import dev.onehop.core.table.ShardKeyPattern;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.Document;
import org.bson.codecs.Codec;
import org.bson.codecs.DocumentCodec;
import org.bson.codecs.IntegerCodec;
import org.bson.codecs.LongCodec;
import org.bson.codecs.ObjectIdCodec;
import org.bson.codecs.StringCodec;
import org.bson.codecs.configuration.CodecConfigurationException;
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * Takes a new document's shard key without encoding the whole document, in the plain case: a {@link
 * Document} whose shard key fields lie at its top and hold what the driver's own codecs encode.
 */
final class ShardKeyFields {
  private final boolean strings;
  private final boolean objectIds;
  private final boolean integers;
  private final boolean longs;

  /** Asks the codecs once: each question makes keys for the registry's cache. */
  ShardKeyFields(CodecRegistry codecs) {
    strings = isEncodedBy(codecs, String.class, StringCodec.class);
    objectIds = isEncodedBy(codecs, ObjectId.class, ObjectIdCodec.class);
    integers = isEncodedBy(codecs, Integer.class, IntegerCodec.class);
    longs = isEncodedBy(codecs, Long.class, LongCodec.class);
  }

  private static boolean isEncodedBy(
      CodecRegistry codecs, Class<?> type, Class<? extends Codec<?>> codec) {
    try {
      return codec.isInstance(codecs.get(type));
    } catch (CodecConfigurationException e) {
      return false; // Who has none for a type has no documents with it either.
    }
  }

  /** The shard key fields alone, null where the whole document has to be encoded to know them. */
  @Nullable BsonDocument of(Object document, Codec<?> codec, ShardKeyPattern pattern) {
    if (!(document instanceof Document fields) || codec.getClass() != DocumentCodec.class) {
      return null;
    }
    BsonDocument key = new BsonDocument(pattern.fields().size());
    for (ShardKeyField field : pattern.fields()) {
      String name = field.path().toString();
      BsonValue value = name.indexOf('.') < 0 ? plain(fields.get(name)) : null;
      if (value == null) {
        return null;
      }
      key.append(name, value);
    }
    return key;
  }

  private @Nullable BsonValue plain(@Nullable Object value) {
    if (value instanceof String text && strings) {
      return new BsonString(text);
    }
    if (value instanceof ObjectId id && objectIds) {
      return new BsonObjectId(id);
    }
    if (value instanceof Integer number && integers) {
      return new BsonInt32(number);
    }
    if (value instanceof Long number && longs) {
      return new BsonInt64(number);
    }
    return null;
  }
}
