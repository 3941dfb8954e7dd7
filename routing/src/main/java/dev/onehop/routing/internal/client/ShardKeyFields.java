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
import org.bson.codecs.configuration.CodecRegistry;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * Takes a new document's shard key without encoding the whole document, in the plain case: a {@link
 * Document} whose shard key fields lie at its top and hold what the driver's own codecs encode.
 */
final class ShardKeyFields {
  private ShardKeyFields() {}

  /** The shard key fields alone, null where the whole document has to be encoded to know them. */
  static @Nullable BsonDocument of(
      Object document, Codec<?> codec, CodecRegistry codecs, ShardKeyPattern pattern) {
    if (!(document instanceof Document fields) || codec.getClass() != DocumentCodec.class) {
      return null;
    }
    BsonDocument key = new BsonDocument(pattern.fields().size());
    for (ShardKeyField field : pattern.fields()) {
      String name = field.path().toString();
      BsonValue value = name.indexOf('.') < 0 ? plain(fields.get(name), codecs) : null;
      if (value == null) {
        return null;
      }
      key.append(name, value);
    }
    return key;
  }

  private static @Nullable BsonValue plain(@Nullable Object value, CodecRegistry codecs) {
    if (value instanceof String text && codecs.get(String.class) instanceof StringCodec) {
      return new BsonString(text);
    }
    if (value instanceof ObjectId id && codecs.get(ObjectId.class) instanceof ObjectIdCodec) {
      return new BsonObjectId(id);
    }
    if (value instanceof Integer number && codecs.get(Integer.class) instanceof IntegerCodec) {
      return new BsonInt32(number);
    }
    if (value instanceof Long number && codecs.get(Long.class) instanceof LongCodec) {
      return new BsonInt64(number);
    }
    return null;
  }
}
