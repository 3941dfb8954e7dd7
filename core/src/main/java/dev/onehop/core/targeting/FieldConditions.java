package dev.onehop.core.targeting;

import dev.onehop.core.table.ShardKeyField;
import java.util.Map;
import java.util.Set;
import org.bson.BsonDocument;
import org.bson.BsonRegularExpression;
import org.bson.BsonType;
import org.bson.BsonValue;

/**
 * Finds the bounds for the conditions on one shard key field. A condition is {@code {field: value}}
 * or a document of operators.
 */
final class FieldConditions {
  /**
   * A document whose first field has one of these names is a DBRef: a value, and not a document of
   * operators.
   */
  private static final Set<String> DB_REF = Set.of("$ref", "$id", "$db");

  private final ShardKeyField field;
  private final ValueBounds values;
  private final Notes notes;

  FieldConditions(ShardKeyField field, boolean simpleCollation, Notes notes) {
    this.field = field;
    this.values = new ValueBounds(field, simpleCollation);
    this.notes = notes;
  }

  Bounds of(BsonValue condition) {
    Bounds bounds;
    if (condition.isRegularExpression()) {
      bounds = values.matching(condition.asRegularExpression());
    } else if (isOperators(condition)) {
      return operators(condition.asDocument());
    } else {
      bounds = values.equalTo(condition);
    }
    return noted(bounds, "equality", condition);
  }

  static boolean isOperators(BsonValue condition) {
    if (!condition.isDocument() || condition.asDocument().isEmpty()) {
      return false;
    }
    String first = condition.asDocument().getFirstKey();
    return first.startsWith("$") && !DB_REF.contains(first);
  }

  private Bounds operators(BsonDocument operators) {
    Bounds all = new Bounds(IntervalSet.ALL, IntervalSet.ALL);
    for (Map.Entry<String, BsonValue> entry : operators.entrySet()) {
      all =
          all.and(
              noted(
                  operator(entry.getKey(), entry.getValue(), operators),
                  entry.getKey(),
                  entry.getValue()));
    }
    return all;
  }

  private Bounds operator(String operator, BsonValue operand, BsonDocument siblings) {
    Comparison comparison = Comparison.of(operator);
    if (comparison != null) {
      return values.compared(comparison, operand);
    }
    return switch (operator) {
      case "$eq" -> operand.isRegularExpression() ? values.same(operand) : values.equalTo(operand);
      case "$ne" ->
          operand.isRegularExpression() ? Bounds.UNDECIDED : values.equalTo(operand).not();
      case "$in" -> operand.isArray() ? values.in(operand.asArray()) : Bounds.UNDECIDED;
      case "$nin" -> operand.isArray() ? values.in(operand.asArray()).not() : Bounds.UNDECIDED;
      case "$exists" -> isTrue(operand) ? values.present() : values.missing();
      case "$not" -> not(operand);
      case "$all" -> all(operand);
      case "$regex" -> regex(operand, siblings.get("$options"));
      // The case $regex reads this option, so the option itself allows all keys.
      case "$options" -> new Bounds(IntervalSet.ALL, IntervalSet.ALL);
      default -> Bounds.UNDECIDED;
    };
  }

  private Bounds not(BsonValue operand) {
    if (operand.isRegularExpression()) {
      return values.matching(operand.asRegularExpression()).not();
    }
    return isOperators(operand) ? operators(operand.asDocument()).not() : Bounds.UNDECIDED;
  }

  private Bounds all(BsonValue operand) {
    if (!operand.isArray() || operand.asArray().isEmpty()) {
      return Bounds.UNDECIDED;
    }
    Bounds all = new Bounds(IntervalSet.ALL, IntervalSet.ALL);
    for (BsonValue value : operand.asArray()) {
      boolean plain = !value.isRegularExpression() && !isOperators(value);
      all = all.and(plain ? values.equalTo(value) : Bounds.UNDECIDED);
    }
    return all;
  }

  private Bounds regex(BsonValue pattern, @org.jspecify.annotations.Nullable BsonValue options) {
    String flags = options != null && options.isString() ? options.asString().getValue() : "";
    if (pattern.isString()) {
      return values.matching(new BsonRegularExpression(pattern.asString().getValue(), flags));
    }
    if (pattern.isRegularExpression()) {
      BsonRegularExpression regex = pattern.asRegularExpression();
      return values.matching(
          options == null ? regex : new BsonRegularExpression(regex.getPattern(), flags));
    }
    return Bounds.UNDECIDED;
  }

  private static boolean isTrue(BsonValue value) {
    if (value.isBoolean()) {
      return value.asBoolean().getValue();
    }
    if (value.isNumber()) {
      return value.asNumber().doubleValue() != 0;
    }
    return !value.isNull() && value.getBsonType() != BsonType.UNDEFINED;
  }

  private Bounds noted(Bounds bounds, String operator, BsonValue operand) {
    if (bounds.may().isAll() && bounds.must().isEmpty()) {
      notes.add(
          operator
              + " with "
              + operand.getBsonType().name().toLowerCase(java.util.Locale.ROOT)
              + " on "
              + (field.hashed() ? "hashed " : "")
              + field.path());
    }
    return bounds;
  }
}
