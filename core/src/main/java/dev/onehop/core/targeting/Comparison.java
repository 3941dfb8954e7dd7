package dev.onehop.core.targeting;

import org.jspecify.annotations.Nullable;

/** The query language's operators {@code $gt}, {@code $gte}, {@code $lt} and {@code $lte}. */
enum Comparison {
  GREATER,
  GREATER_OR_EQUAL,
  LESS,
  LESS_OR_EQUAL;

  static @Nullable Comparison of(String operator) {
    return switch (operator) {
      case "$gt" -> GREATER;
      case "$gte" -> GREATER_OR_EQUAL;
      case "$lt" -> LESS;
      case "$lte" -> LESS_OR_EQUAL;
      default -> null;
    };
  }

  boolean orEqual() {
    return this == GREATER_OR_EQUAL || this == LESS_OR_EQUAL;
  }

  boolean isUpperBound() {
    return this == LESS || this == LESS_OR_EQUAL;
  }

  /** The comparison with exchanged sides: {@code 5 < x} is {@code x > 5}. */
  Comparison reversed() {
    return switch (this) {
      case GREATER -> LESS;
      case GREATER_OR_EQUAL -> LESS_OR_EQUAL;
      case LESS -> GREATER;
      case LESS_OR_EQUAL -> GREATER_OR_EQUAL;
    };
  }

  Interval interval(byte[] key) {
    return switch (this) {
      case GREATER -> Interval.above(key);
      case GREATER_OR_EQUAL -> Interval.atLeast(key);
      case LESS -> Interval.below(key);
      case LESS_OR_EQUAL -> Interval.atMost(key);
    };
  }
}
