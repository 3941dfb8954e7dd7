package dev.onehop.core.targeting;

import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * What an operation carries beside its filter that changes what the filter means.
 *
 * @param collation the operation's own; null for the collection's default
 * @param let its variables, which {@code $expr} may use; null for none
 */
public record TargetingOptions(@Nullable BsonDocument collation, @Nullable BsonDocument let) {
  /** Neither. */
  public static final TargetingOptions NONE = new TargetingOptions(null, null);
}
