package dev.onehop.core.targeting;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.core.bson.HashedKey;
import dev.onehop.core.bson.SortableKeyBuilder;
import dev.onehop.core.table.ShardKeyField;
import dev.onehop.core.table.ShardKeyPattern;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Reads the whole shard key from a filter's equalities, as the server does for writes that need a
 * single shard. The equalities are {@code {field: value}}, {@code $eq}, and {@code $and} of
 * equalities. Each field of the key must have an equality. An array, a regular expression or
 * undefined is not an equality.
 */
final class EqualityKey {
  private static final int TYPICAL_KEY = 48;

  private final Map<String, BsonValue> equalities = new LinkedHashMap<>();
  private boolean contradiction;

  private EqualityKey() {}

  /** The shard key, or null if the filter does not contain the whole shard key. */
  static byte @Nullable [] of(
      ShardKeyPattern pattern, BsonDocument filter, boolean simpleCollation) {
    EqualityKey found = new EqualityKey();
    found.collect(filter);
    if (found.contradiction) {
      return null;
    }
    SortableKeyBuilder key = new SortableKeyBuilder(TYPICAL_KEY);
    for (ShardKeyField field : pattern.fields()) {
      BsonValue value = found.valueOf(field.path());
      if (value == null
          || value.isArray()
          || value.isRegularExpression()
          || value.getBsonType() == BsonType.UNDEFINED
          || (!simpleCollation && Collations.concerns(value))) {
        return null;
      }
      key.add(field.hashed() ? new BsonInt64(HashedKey.hash(value)) : value, field.descending());
    }
    return key.build();
  }

  private void collect(BsonDocument filter) {
    for (Map.Entry<String, BsonValue> entry : filter.entrySet()) {
      String name = entry.getKey();
      BsonValue condition = entry.getValue();
      if (name.equals("$and") && condition.isArray()) {
        for (BsonValue branch : condition.asArray()) {
          if (branch.isDocument()) {
            collect(branch.asDocument());
          }
        }
      } else if (!name.startsWith("$")) {
        BsonValue value =
            FieldConditions.isOperators(condition) ? condition.asDocument().get("$eq") : condition;
        if (value != null) {
          BsonValue before = equalities.putIfAbsent(name, value);
          contradiction |= before != null && !before.equals(value);
        }
      }
    }
  }

  private @Nullable BsonValue valueOf(BsonPath path) {
    BsonValue exact = equalities.get(path.toString());
    if (exact != null) {
      return exact;
    }
    List<String> parts = path.parts();
    for (int i = 1; i < parts.size(); i++) {
      BsonValue parent = equalities.get(String.join(".", parts.subList(0, i)));
      if (parent != null) {
        return parent.isDocument()
            ? BsonPath.of(String.join(".", parts.subList(i, parts.size())))
                .find(parent.asDocument())
            : null;
      }
    }
    return null;
  }
}
