package dev.onehop.core.table;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.core.bson.HashedKey;
import dev.onehop.core.bson.MalformedBsonException;
import dev.onehop.core.bson.SortableKey;
import dev.onehop.core.bson.SortableKeyBuilder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;

/**
 * A shard key pattern, which defines the shard key of a document, such as <code>
 * {country: 1, "user.id": "hashed"}
 * </code>. Immutable and thread-safe.
 *
 * <p>A key is the concatenation of the fields' {@link SortableKey} bytes; a hashed field is
 * represented by its 64-bit hash. A missing field counts as null.
 */
public final class ShardKeyPattern {
  private static final String HASHED = "hashed";
  private static final int TYPICAL_KEY = 48;

  private final BsonDocument pattern;
  private final List<ShardKeyField> fields;
  private final List<String> paths;
  private final boolean[] descending;
  private final boolean hashed;

  private ShardKeyPattern(BsonDocument pattern, List<ShardKeyField> fields) {
    this.pattern = pattern;
    this.fields = List.copyOf(fields);
    paths = fields.stream().map(field -> field.path().toString()).toList();
    hashed = fields.stream().anyMatch(ShardKeyField::hashed);
    descending = new boolean[fields.size()];
    for (int i = 0; i < descending.length; i++) {
      descending[i] = fields.get(i).descending();
    }
  }

  /**
   * The pattern in the format of {@code config.collections}: each field is 1, -1 or "hashed".
   *
   * @throws ShardKeyException if it has no field, a field of another kind, more than one hashed
   *     field, or an empty, repeated or nested path
   */
  public static ShardKeyPattern of(BsonDocument keyPattern) {
    if (keyPattern.isEmpty()) {
      throw new ShardKeyException("a shard key pattern without fields");
    }
    List<ShardKeyField> fields = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (Map.Entry<String, BsonValue> entry : keyPattern.entrySet()) {
      fields.add(field(entry.getKey(), entry.getValue(), keyPattern));
      if (!seen.add(entry.getKey())) {
        throw new ShardKeyException("field " + entry.getKey() + " twice in " + keyPattern.toJson());
      }
    }
    if (fields.stream().filter(ShardKeyField::hashed).count() > 1) {
      throw new ShardKeyException("more than one hashed field in " + keyPattern.toJson());
    }
    for (String path : seen) {
      for (int dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
        if (seen.contains(path.substring(0, dot))) {
          throw new ShardKeyException(
              "field " + path + " lies inside another field of " + keyPattern.toJson());
        }
      }
    }
    return new ShardKeyPattern(keyPattern.clone(), fields);
  }

  private static ShardKeyField field(String name, BsonValue kind, BsonDocument keyPattern) {
    BsonPath path;
    try {
      path = BsonPath.of(name);
    } catch (IllegalArgumentException e) {
      throw new ShardKeyException(e.getMessage() + " in " + keyPattern.toJson());
    }
    if (kind.isString() && kind.asString().getValue().equals(HASHED)) {
      return new ShardKeyField(path, true, false);
    }
    if (kind.isNumber()) {
      double direction = kind.asNumber().doubleValue();
      if (direction == 1 || direction == -1) {
        return new ShardKeyField(path, false, direction < 0);
      }
    }
    throw new ShardKeyException(
        "field " + name + " of " + keyPattern.toJson() + " is neither 1, -1 nor \"hashed\"");
  }

  /** The fields in order, at least one. */
  public List<ShardKeyField> fields() {
    return fields;
  }

  /** The dotted paths of the fields, in order. */
  public List<String> paths() {
    return paths;
  }

  /** Whether one of the fields is hashed. */
  public boolean isHashed() {
    return hashed;
  }

  /** A copy of the pattern document. */
  public BsonDocument toBsonDocument() {
    return pattern.clone();
  }

  /**
   * The document's key.
   *
   * @throws ShardKeyException if there is an array at or above a field of the key
   * @throws MalformedBsonException if the bytes of a raw document are not valid BSON up to and
   *     including a field of the key
   */
  public byte[] keyOf(BsonDocument document) {
    if (document instanceof RawBsonDocument raw) {
      return keyOfRaw(raw);
    }
    if (fields.size() == 1 && !hashed && !descending[0]) {
      return SortableKey.encode(valueOf(document, fields.get(0)));
    }
    SortableKeyBuilder key = new SortableKeyBuilder(TYPICAL_KEY);
    for (ShardKeyField field : fields) {
      key.add(hashedIfAsked(valueOf(document, field), field), field.descending());
    }
    return key.build();
  }

  private byte[] keyOfRaw(RawBsonDocument document) {
    SortableKeyBuilder key = new SortableKeyBuilder(TYPICAL_KEY);
    for (ShardKeyField field : fields) {
      BsonPath.Located located = field.path().find(document);
      if (located == null) {
        key.add(hashedIfAsked(BsonNull.VALUE, field), field.descending());
      } else if (located.type() == BsonType.ARRAY) {
        throw arrayAt(field);
      } else if (field.hashed()) {
        key.add(new BsonInt64(HashedKey.hash(located)), field.descending());
      } else {
        key.add(located, field.descending());
      }
    }
    return key.build();
  }

  /**
   * The document's key as a document of dotted paths, comparable with chunk bounds: hashed fields
   * are hashes, missing fields are null.
   *
   * @throws ShardKeyException if there is an array at or above a field of the key
   */
  public BsonDocument keyDocumentOf(BsonDocument document) {
    BsonDocument key = new BsonDocument();
    for (ShardKeyField field : fields) {
      key.append(field.path().toString(), hashedIfAsked(valueOf(document, field), field));
    }
    return key;
  }

  /**
   * The key of a chunk bound: a value for each field, in order, hashed fields already hashed.
   *
   * @throws ShardKeyException if the fields are not the fields of this pattern
   */
  public byte[] keyOfBound(BsonDocument bound) {
    SortableKeyBuilder key = new SortableKeyBuilder(TYPICAL_KEY);
    int i = 0;
    for (Map.Entry<String, BsonValue> entry : bound.entrySet()) {
      if (i == paths.size() || !entry.getKey().equals(paths.get(i))) {
        throw notTheFields(bound);
      }
      key.add(entry.getValue(), descending[i++]);
    }
    if (i < paths.size()) {
      throw notTheFields(bound);
    }
    return key.build();
  }

  /**
   * A chunk bound with this key. If the server considers several values equal, the result has one
   * of them.
   *
   * @throws MalformedBsonException if the bytes are not exactly one key of this pattern
   */
  public BsonDocument boundOf(byte[] key) {
    List<BsonValue> values = SortableKeyBuilder.decode(key, descending);
    BsonDocument bound = new BsonDocument();
    for (int i = 0; i < values.size(); i++) {
      BsonValue value = values.get(i);
      boolean hash = fields.get(i).hashed() && value.isNumber();
      bound.append(paths.get(i), hash ? new BsonInt64(value.asNumber().longValue()) : value);
    }
    return bound;
  }

  private ShardKeyException notTheFields(BsonDocument bound) {
    return new ShardKeyException(
        "bound " + bound.toJson() + " does not have the fields of shard key " + this);
  }

  private BsonValue valueOf(BsonDocument document, ShardKeyField field) {
    BsonValue value = field.path().find(document);
    if (value == null) {
      return BsonNull.VALUE;
    }
    if (value.isArray()) {
      throw arrayAt(field);
    }
    return value;
  }

  private ShardKeyException arrayAt(ShardKeyField field) {
    return new ShardKeyException("an array on shard key field " + field.path() + " of " + this);
  }

  private static BsonValue hashedIfAsked(BsonValue value, ShardKeyField field) {
    return field.hashed() ? new BsonInt64(HashedKey.hash(value)) : value;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ShardKeyPattern that
        && fields().toString().equals(that.fields().toString());
  }

  @Override
  public int hashCode() {
    return paths.hashCode();
  }

  @Override
  public String toString() {
    return pattern.toJson();
  }
}
