package dev.onehop.core.targeting;

import dev.onehop.core.table.ShardKeyField;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Finds the shard keys that {@code $expr} allows. It analyzes comparisons of a field with a
 * constant, {@code $in} with a list of constants, {@code $and} and {@code $or}. Constants include
 * variables of {@code let}.
 */
final class ExpressionAnalyzer {
  private final List<ShardKeyField> fields;
  private final boolean simpleCollation;
  private final @Nullable BsonDocument let;
  private final Notes notes;

  ExpressionAnalyzer(
      List<ShardKeyField> fields,
      boolean simpleCollation,
      @Nullable BsonDocument let,
      Notes notes) {
    this.fields = fields;
    this.simpleCollation = simpleCollation;
    this.let = let;
    this.notes = notes;
  }

  KeySpace analyze(BsonValue expression) {
    if (!expression.isDocument() || expression.asDocument().size() != 1) {
      return undecided("$expr");
    }
    String operator = expression.asDocument().getFirstKey();
    BsonValue operand = expression.asDocument().get(operator);
    if (operand == null || !operand.isArray()) {
      return undecided("$expr with " + operator);
    }
    BsonArray operands = operand.asArray();
    return switch (operator) {
      case "$and" -> {
        KeySpace all = KeySpace.all(fields.size());
        for (BsonValue part : operands) {
          all = all.and(analyze(part));
        }
        yield all;
      }
      case "$or" -> KeySpace.or(fields.size(), operands.stream().map(this::analyze).toList());
      case "$in" -> in(operands);
      default -> comparison(operator, operands);
    };
  }

  private KeySpace comparison(String operator, BsonArray operands) {
    Comparison comparison = Comparison.of(operator);
    if ((comparison == null && !operator.equals("$eq")) || operands.size() != 2) {
      return undecided("$expr with " + operator);
    }
    int field = field(operands.get(0));
    BsonValue constant = constant(operands.get(1));
    if (field < 0) {
      field = field(operands.get(1));
      constant = constant(operands.get(0));
      comparison = comparison == null ? null : comparison.reversed();
    }
    if (field < 0 || constant == null) {
      return undecided(
          "$expr with " + operator + " that does not compare a shard key field with a constant");
    }
    ValueBounds values = new ValueBounds(fields.get(field), simpleCollation);
    IntervalSet set =
        comparison == null
            ? values.equalTo(constant).may()
            : values.comparedAcrossTypes(comparison, constant);
    return KeySpace.of(fields.size(), field, set);
  }

  private KeySpace in(BsonArray operands) {
    int field = operands.size() == 2 ? field(operands.get(0)) : -1;
    if (field < 0 || !operands.get(1).isArray()) {
      return undecided("$expr with $in that does not compare a shard key field with constants");
    }
    ValueBounds values = new ValueBounds(fields.get(field), simpleCollation);
    List<Interval> any = new ArrayList<>();
    for (BsonValue element : operands.get(1).asArray()) {
      BsonValue constant = constant(element);
      if (constant == null) {
        return undecided("$expr with $in that does not compare a shard key field with constants");
      }
      any.addAll(values.equalTo(constant).may().intervals());
    }
    return KeySpace.of(fields.size(), field, IntervalSet.union(any));
  }

  private int field(BsonValue operand) {
    if (operand.isString()) {
      String text = operand.asString().getValue();
      for (int i = 0; i < fields.size(); i++) {
        if (text.length() > 1
            && text.charAt(0) == '$'
            && fields.get(i).path().toString().equals(text.substring(1))) {
          return i;
        }
      }
    }
    return -1;
  }

  /** The operand's value if it is the same for every document; otherwise null. */
  private @Nullable BsonValue constant(BsonValue operand) {
    return switch (operand.getBsonType()) {
      case STRING -> {
        String text = operand.asString().getValue();
        yield !text.startsWith("$") ? operand : text.startsWith("$$") ? variable(text) : null;
      }
      case DOCUMENT -> {
        BsonDocument document = operand.asDocument();
        yield document.size() == 1 ? document.get("$literal") : null;
      }
      case ARRAY, UNDEFINED -> null;
      default -> operand;
    };
  }

  private @Nullable BsonValue variable(String reference) {
    BsonValue value = let == null ? null : let.get(reference.substring(2));
    boolean refersOn =
        value != null && value.isString() && value.asString().getValue().startsWith("$");
    return value == null || refersOn ? null : constant(value);
  }

  private KeySpace undecided(String what) {
    notes.add(what);
    return KeySpace.all(fields.size());
  }
}
