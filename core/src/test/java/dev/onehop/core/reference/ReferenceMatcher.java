package dev.onehop.core.reference;

import java.util.Map;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonRegularExpression;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Decides by the rules of the query language whether a document matches a filter. The document must
 * have no arrays on the paths of the filter.
 *
 * @param order the order of all values
 * @param undefinedIsNull whether null in a filter equals undefined, as on servers before 8.0
 * @param let variables of {@code $expr}
 */
public record ReferenceMatcher(ReferenceOrder order, boolean undefinedIsNull, BsonDocument let) {

  public boolean matches(BsonDocument document, BsonDocument filter) {
    return filter.entrySet().stream().allMatch(entry -> condition(document, entry));
  }

  private boolean condition(BsonDocument document, Map.Entry<String, BsonValue> entry) {
    BsonValue operand = entry.getValue();
    return switch (entry.getKey()) {
      case "$and" ->
          operand.asArray().stream().allMatch(part -> matches(document, part.asDocument()));
      case "$or" ->
          operand.asArray().stream().anyMatch(part -> matches(document, part.asDocument()));
      case "$nor" ->
          operand.asArray().stream().noneMatch(part -> matches(document, part.asDocument()));
      case "$expr" -> expression(document, operand.asDocument());
      case "$comment" -> true;
      default -> field(find(document, entry.getKey()), operand);
    };
  }

  public static @Nullable BsonValue find(BsonDocument document, String path) {
    BsonValue value = document;
    for (String part : path.split("\\.", -1)) {
      value = value != null && value.isDocument() ? value.asDocument().get(part) : null;
    }
    return value;
  }

  private boolean field(@Nullable BsonValue value, BsonValue operand) {
    if (operand.isRegularExpression()) {
      return regex(value, operand.asRegularExpression());
    }
    if (!isOperators(operand)) {
      return equal(value, operand);
    }
    BsonDocument operators = operand.asDocument();
    return operators.entrySet().stream()
        .allMatch(operator -> operator(value, operator.getKey(), operator.getValue(), operators));
  }

  private static boolean isOperators(BsonValue operand) {
    return operand.isDocument()
        && !operand.asDocument().isEmpty()
        && operand.asDocument().getFirstKey().startsWith("$");
  }

  private boolean operator(
      @Nullable BsonValue value, String operator, BsonValue operand, BsonDocument siblings) {
    return switch (operator) {
      case "$eq" -> equal(value, operand);
      case "$ne" -> !equal(value, operand);
      case "$in" -> in(value, operand.asArray());
      case "$nin" -> !in(value, operand.asArray());
      case "$gt" -> compared(value, operand, sign -> sign > 0);
      case "$gte" -> compared(value, operand, sign -> sign >= 0);
      case "$lt" -> compared(value, operand, sign -> sign < 0);
      case "$lte" -> compared(value, operand, sign -> sign <= 0);
      case "$exists" -> operand.asBoolean().getValue() == (value != null);
      case "$not" -> !field(value, operand);
      case "$all" -> operand.asArray().stream().allMatch(each -> equal(value, each));
      case "$regex" ->
          regex(
              value,
              new BsonRegularExpression(
                  operand.asString().getValue(),
                  siblings.containsKey("$options")
                      ? siblings.getString("$options").getValue()
                      : ""));
      case "$options" -> true;
      default -> throw new IllegalArgumentException(operator);
    };
  }

  private boolean in(@Nullable BsonValue value, BsonArray any) {
    return any.stream()
        .anyMatch(
            each ->
                each.isRegularExpression()
                    ? regex(value, each.asRegularExpression())
                    : equal(value, each));
  }

  private boolean equal(@Nullable BsonValue value, BsonValue operand) {
    if (operand.isNull()) {
      return value == null
          || value.isNull()
          || (undefinedIsNull && value.getBsonType() == BsonType.UNDEFINED);
    }
    return value != null && order.compare(value, operand) == 0;
  }

  /**
   * Compares values of one type class. NaN is neither less nor greater than a number, and null is
   * only equal to null.
   */
  private boolean compared(@Nullable BsonValue value, BsonValue operand, IntPredicate sign) {
    if (operand.isNull()) {
      return sign.test(0) && equal(value, operand);
    }
    if (value == null) {
      return false;
    }
    int type = ReferenceOrder.canonicalType(operand.getBsonType());
    if (type == -1 || type == 127) {
      return sign.test(order.compare(value, operand));
    }
    if (type != ReferenceOrder.canonicalType(value.getBsonType())) {
      return false;
    }
    if (type == 10 && isNaN(value) != isNaN(operand)) {
      return false;
    }
    return sign.test(order.compare(value, operand));
  }

  private static boolean isNaN(BsonValue number) {
    return number.isDouble()
        ? Double.isNaN(number.asDouble().getValue())
        : number.isDecimal128() && number.asDecimal128().getValue().isNaN();
  }

  private static boolean regex(@Nullable BsonValue value, BsonRegularExpression regex) {
    if (value == null) {
      return false;
    }
    int flags =
        (regex.getOptions().contains("i") ? Pattern.CASE_INSENSITIVE : 0)
            | (regex.getOptions().contains("m") ? Pattern.MULTILINE : 0)
            | (regex.getOptions().contains("s") ? Pattern.DOTALL : 0)
            | (regex.getOptions().contains("x") ? Pattern.COMMENTS : 0);
    return switch (value.getBsonType()) {
      case STRING ->
          Pattern.compile(regex.getPattern(), flags).matcher(value.asString().getValue()).find();
      case SYMBOL ->
          Pattern.compile(regex.getPattern(), flags).matcher(value.asSymbol().getSymbol()).find();
      case REGULAR_EXPRESSION -> value.equals(regex);
      default -> false;
    };
  }

  private boolean expression(BsonDocument document, BsonDocument expression) {
    String operator = expression.getFirstKey();
    BsonArray operands = expression.getArray(operator);
    return switch (operator) {
      case "$and" -> operands.stream().allMatch(each -> expression(document, each.asDocument()));
      case "$or" -> operands.stream().anyMatch(each -> expression(document, each.asDocument()));
      case "$not" -> !expression(document, operands.get(0).asDocument());
      case "$in" ->
          operands.get(1).asArray().stream()
              .anyMatch(
                  each ->
                      across(evaluate(document, operands.get(0)), evaluate(document, each)) == 0);
      default -> {
        int sign = across(evaluate(document, operands.get(0)), evaluate(document, operands.get(1)));
        yield switch (operator) {
          case "$eq" -> sign == 0;
          case "$ne" -> sign != 0;
          case "$gt" -> sign > 0;
          case "$gte" -> sign >= 0;
          case "$lt" -> sign < 0;
          case "$lte" -> sign <= 0;
          default -> throw new IllegalArgumentException(operator);
        };
      }
    };
  }

  private @Nullable BsonValue evaluate(BsonDocument document, BsonValue operand) {
    if (operand.isString()) {
      String text = operand.asString().getValue();
      if (text.startsWith("$$")) {
        return evaluate(document, let.getOrDefault(text.substring(2), BsonNull.VALUE));
      }
      return text.startsWith("$") ? find(document, text.substring(1)) : operand;
    }
    return operand.isDocument() && operand.asDocument().containsKey("$literal")
        ? operand.asDocument().get("$literal")
        : operand;
  }

  /** Compares values of all types in one order. A missing value sorts like undefined. */
  private int across(@Nullable BsonValue a, @Nullable BsonValue b) {
    if (a == null || b == null) {
      int left = a == null ? 0 : ReferenceOrder.canonicalType(a.getBsonType());
      int right = b == null ? 0 : ReferenceOrder.canonicalType(b.getBsonType());
      return Integer.compare(left, right);
    }
    return order.compare(a, b);
  }
}
