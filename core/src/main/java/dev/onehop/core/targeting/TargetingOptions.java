package dev.onehop.core.targeting;

import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The options of an operation that change the meaning of its filter.
 *
 * @param collation the operation's collation; null for the collection's default
 * @param let the operation's variables, which {@code $expr} may use; null for none
 */
public record TargetingOptions(@Nullable BsonDocument collation, @Nullable BsonDocument let) {
  /** No options. */
  public static final TargetingOptions NONE = new TargetingOptions(null, null);
}
