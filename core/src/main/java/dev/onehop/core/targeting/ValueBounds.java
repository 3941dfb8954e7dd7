package dev.onehop.core.targeting;

import dev.onehop.core.bson.SortableKey;
import dev.onehop.core.table.ShardKeyField;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonJavaScript;
import org.bson.BsonNull;
import org.bson.BsonObjectId;
import org.bson.BsonRegularExpression;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonUndefined;
import org.bson.BsonValue;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;

/**
 * The keys of one shard key field that satisfy a comparison with a value, by the rules of the query
 * language. Comparisons apply within a value's type class. Null also equals a missing field, and on
 * servers before 8.0 also undefined. NaN equals only itself.
 *
 * <p>The rules rely on a restriction of sharded collections: no array is at or above a shard key
 * field. Each field therefore has one value, which is the field's key.
 */
final class ValueBounds {
  private static final byte[] NULL = SortableKey.encode(BsonNull.VALUE);
  private static final byte[] NEGATIVE_INFINITY =
      SortableKey.encode(new BsonDouble(Double.NEGATIVE_INFINITY));

  private final ShardKeyField field;
  private final boolean simpleCollation;

  ValueBounds(ShardKeyField field, boolean simpleCollation) {
    this.field = field;
    this.simpleCollation = simpleCollation;
  }

  /**
   * The bounds for a field that equals a value in the query language. Null also matches a missing
   * field.
   */
  Bounds equalTo(BsonValue value) {
    if (value.isNull()) {
      return field.hashed()
          ? Bounds.within(HashedValues.equalToNull(value))
          : new Bounds(
              IntervalSet.union(
                  List.of(
                      Interval.point(SortableKey.encode(new BsonUndefined())),
                      Interval.point(NULL))),
              isNull());
    }
    return value.getBsonType() == org.bson.BsonType.UNDEFINED ? Bounds.UNDECIDED : same(value);
  }

  /**
   * The bounds for a field that contains exactly this value. Unlike in {@link #equalTo}, null does
   * not match a missing field.
   */
  Bounds same(BsonValue value) {
    if (value.isArray()) {
      return Bounds.UNDECIDED;
    }
    if (field.hashed()) {
      return simpleCollation || !Collations.concerns(value)
          ? Bounds.within(HashedValues.equalTo(value))
          : Bounds.UNDECIDED;
    }
    byte[] key = SortableKey.encode(value);
    return simpleCollation || !Collations.concerns(value)
        ? Bounds.exactly(IntervalSet.of(Interval.point(key)))
        : Bounds.within(typeClass(value));
  }

  /** The bounds for a missing field, whose key is the key of null. */
  Bounds missing() {
    return Bounds.within(field.hashed() ? HashedValues.equalTo(BsonNull.VALUE) : isNull());
  }

  /** The bounds for a field that is present, possibly as null. */
  Bounds present() {
    IntervalSet nullKey = field.hashed() ? HashedValues.equalTo(BsonNull.VALUE) : isNull();
    return new Bounds(IntervalSet.ALL, nullKey.complement());
  }

  /** The bounds of {@code $gt}, {@code $gte}, {@code $lt} or {@code $lte}. */
  Bounds compared(Comparison comparison, BsonValue value) {
    switch (value.getBsonType()) {
      case NULL -> {
        return comparison.orEqual() ? equalTo(value) : Bounds.within(equalTo(value).may());
      }
      // Server versions differ in the comparison of these types with other types, so the bounds are
      // undecided.
      case MIN_KEY, MAX_KEY, UNDEFINED, ARRAY, REGULAR_EXPRESSION -> {
        return Bounds.UNDECIDED;
      }
      default -> {}
    }
    if (isNaN(value)) {
      return comparison.orEqual() ? same(value) : Bounds.NOTHING;
    }
    if (field.hashed()) {
      return Bounds.UNDECIDED;
    }
    byte[] key = SortableKey.encode(value);
    IntervalSet sameClass = typeClass(value);
    if (!simpleCollation && Collations.concerns(value)) {
      return Bounds.within(sameClass);
    }
    if (value.isNumber()) {
      // NaN is below all numbers in the order of keys, but it is not less than any number, so it is
      // left out.
      sameClass = sameClass.and(IntervalSet.of(Interval.atLeast(NEGATIVE_INFINITY)));
    }
    return Bounds.exactly(sameClass.and(IntervalSet.of(comparison.interval(key))));
  }

  /**
   * The bounds for a field that the expression matches: the value is a matching string, or a
   * regular expression equal to this expression.
   */
  Bounds matching(BsonRegularExpression regex) {
    if (field.hashed()) {
      return Bounds.UNDECIDED;
    }
    String prefix = RegexPrefix.of(regex);
    return Bounds.within(
        IntervalSet.of(
                Interval.startingWith(
                    SortableKey.stringPrefix(prefix), SortableKey.encode(new BsonString(prefix))))
            .or(typeClass(regex)));
  }

  /**
   * The bounds for a field that equals one of these values, or matches one of these regular
   * expressions.
   */
  Bounds in(BsonArray values) {
    java.util.ArrayList<Interval> may = new java.util.ArrayList<>(values.size());
    java.util.ArrayList<Interval> must = new java.util.ArrayList<>(values.size());
    for (BsonValue value : values) {
      Bounds one =
          value.isRegularExpression() ? matching(value.asRegularExpression()) : equalTo(value);
      may.addAll(one.may().intervals());
      must.addAll(one.must().intervals());
    }
    return new Bounds(IntervalSet.union(may), IntervalSet.union(must));
  }

  /**
   * The keys for a comparison in {@code $expr}. There, values of all types have one order, and a
   * missing field is below null.
   */
  IntervalSet comparedAcrossTypes(Comparison comparison, BsonValue value) {
    if (field.hashed() || (!simpleCollation && Collations.concerns(value)) || value.isArray()) {
      return IntervalSet.ALL;
    }
    IntervalSet set = IntervalSet.of(comparison.interval(SortableKey.encode(value)));
    return comparison.isUpperBound() ? set.or(isNull()) : set;
  }

  private static IntervalSet isNull() {
    return IntervalSet.of(Interval.point(NULL));
  }

  /** All values of this value's type class. */
  private static IntervalSet typeClass(BsonValue value) {
    BsonValue least = leastLike(value);
    byte[] typeClass = {SortableKey.encode(value)[0]};
    return IntervalSet.of(
        least == null
            ? Interval.startingWith(typeClass)
            : Interval.startingWith(typeClass, SortableKey.encode(least)));
  }

  /** The least value of a type class, or null if it has no simple form. */
  private static @Nullable BsonValue leastLike(BsonValue value) {
    return switch (value.getBsonType()) {
      case INT32, INT64, DOUBLE, DECIMAL128 -> new BsonDouble(Double.NaN);
      case STRING, SYMBOL -> new BsonString("");
      case DOCUMENT -> new BsonDocument();
      case BINARY -> new BsonBinary(new byte[0]);
      case OBJECT_ID -> new BsonObjectId(new ObjectId(new byte[12]));
      case BOOLEAN -> BsonBoolean.FALSE;
      case DATE_TIME -> new BsonDateTime(Long.MIN_VALUE);
      case TIMESTAMP -> new BsonTimestamp(0);
      case REGULAR_EXPRESSION -> new BsonRegularExpression("");
      case JAVASCRIPT -> new BsonJavaScript("");
      default -> null;
    };
  }

  private static boolean isNaN(BsonValue value) {
    return value.isDouble()
        ? Double.isNaN(value.asDouble().getValue())
        : value.isDecimal128() && value.asDecimal128().getValue().isNaN();
  }
}
