package dev.onehop.core.targeting;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.core.table.ShardKeyField;
import dev.onehop.core.table.ShardKeyPattern;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Determines the shard keys of documents that can match a filter. An unknown condition allows all
 * keys. A negation is applied to conditions on single fields: their bounds have the values that
 * possibly match and the values that certainly match. Of other conditions, only the possible
 * matches are known, so their negation allows all keys.
 */
final class FilterAnalyzer {
  private final List<ShardKeyField> fields;
  private final boolean simpleCollation;
  private final ExpressionAnalyzer expressions;
  private final Notes notes;

  FilterAnalyzer(
      ShardKeyPattern pattern, boolean simpleCollation, @Nullable BsonDocument let, Notes notes) {
    this.fields = pattern.fields();
    this.simpleCollation = simpleCollation;
    this.notes = notes;
    this.expressions = new ExpressionAnalyzer(fields, simpleCollation, let, notes);
  }

  KeySpace analyze(BsonDocument filter) {
    return analyze(filter, false);
  }

  private KeySpace analyze(BsonDocument filter, boolean negated) {
    List<KeySpace> parts = new ArrayList<>(filter.size());
    for (Map.Entry<String, BsonValue> entry : filter.entrySet()) {
      parts.add(condition(entry.getKey(), entry.getValue(), negated));
    }
    return negated ? or(parts) : and(parts);
  }

  private KeySpace condition(String name, BsonValue operand, boolean negated) {
    return switch (name) {
      case "$and" -> branches(operand, negated, true);
      case "$or" -> branches(operand, negated, false);
      case "$nor" -> branches(operand, !negated, false);
      case "$expr" -> negated ? undecided("a negated $expr") : expressions.analyze(operand);
      case "$comment" -> negated ? KeySpace.none(fields.size()) : all();
      default -> name.startsWith("$") ? undecided(name) : field(name, operand, negated);
    };
  }

  private KeySpace branches(BsonValue operand, boolean negated, boolean conjunction) {
    if (!operand.isArray() || operand.asArray().isEmpty()) {
      return undecided("a logical operator without an array");
    }
    BsonArray branches = operand.asArray();
    List<KeySpace> parts = new ArrayList<>(branches.size());
    for (BsonValue branch : branches) {
      if (!branch.isDocument()) {
        return undecided("a logical operator with operands that are not filters");
      }
      parts.add(analyze(branch.asDocument(), negated));
    }
    return conjunction != negated ? and(parts) : or(parts);
  }

  private KeySpace field(String path, BsonValue condition, boolean negated) {
    KeySpace inside = null;
    for (int i = 0; i < fields.size(); i++) {
      String keyPath = fields.get(i).path().toString();
      if (keyPath.equals(path)) {
        Bounds bounds = new FieldConditions(fields.get(i), simpleCollation, notes).of(condition);
        return KeySpace.of(fields.size(), i, (negated ? bounds.not() : bounds).may());
      }
      if (keyPath.length() > path.length()
          && keyPath.startsWith(path)
          && keyPath.charAt(path.length()) == '.') {
        BsonPath rest = BsonPath.of(keyPath.substring(path.length() + 1));
        KeySpace one =
            negated ? undecided("a negated condition on " + path) : parent(i, rest, condition);
        inside = inside == null ? one : inside.and(one);
      }
    }
    return inside == null ? all() : inside;
  }

  /** Finds the keys for a condition on a parent document of a shard key field. */
  private KeySpace parent(int index, BsonPath rest, BsonValue condition) {
    if (!FieldConditions.isOperators(condition)) {
      return condition.isRegularExpression()
          ? undecided("a regular expression on a parent of " + fields.get(index).path())
          : parentEquals(index, rest, condition);
    }
    List<KeySpace> all = new ArrayList<>();
    for (Map.Entry<String, BsonValue> entry : condition.asDocument().entrySet()) {
      BsonValue operand = entry.getValue();
      if (entry.getKey().equals("$eq")) {
        all.add(parentEquals(index, rest, operand));
      } else if (entry.getKey().equals("$in")
          && operand.isArray()
          && operand.asArray().stream().noneMatch(BsonValue::isRegularExpression)) {
        List<KeySpace> any = new ArrayList<>();
        operand.asArray().forEach(value -> any.add(parentEquals(index, rest, value)));
        all.add(or(any));
      } else {
        all.add(undecided(entry.getKey() + " on a parent of " + fields.get(index).path()));
      }
    }
    return and(all);
  }

  /**
   * Finds the keys if a parent document of a shard key field equals {@code value}. The field then
   * has its value in {@code value}, or null if {@code value} does not contain the field.
   */
  private KeySpace parentEquals(int index, BsonPath rest, BsonValue value) {
    ValueBounds bounds = new ValueBounds(fields.get(index), simpleCollation);
    if (value.isArray()) {
      return undecided("an array as the value of a parent of " + fields.get(index).path());
    }
    BsonValue inner = value.isDocument() ? rest.find(value.asDocument()) : null;
    Bounds found = bounds.same(inner == null ? BsonNull.VALUE : inner);
    return KeySpace.of(fields.size(), index, found.may());
  }

  private KeySpace and(List<KeySpace> parts) {
    KeySpace all = all();
    for (KeySpace part : parts) {
      all = all.and(part);
    }
    return all;
  }

  private KeySpace or(List<KeySpace> parts) {
    return KeySpace.or(fields.size(), parts);
  }

  private KeySpace all() {
    return KeySpace.all(fields.size());
  }

  private KeySpace undecided(String what) {
    notes.add(what);
    return all();
  }
}
