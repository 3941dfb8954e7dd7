package dev.onehop.core.reference;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonRegularExpression;
import org.bson.BsonString;
import org.bson.BsonType;
import org.bson.BsonValue;

/**
 * Documents with the fields {@code a}, {@code b}, {@code c.d}, {@code c.e} and {@code x}, and
 * filters on them. Only {@code x} may hold an array.
 */
public final class RandomFilters {
  private static final List<String> PATHS = List.of("a", "b", "c.d", "c.e");
  private static final String[] REGEXES = {
    "^a", "^ab", "^a$", "^aB?", "^a*", "^a\\.", "\\Aab", "^é", "a", "b$", "^(a|b)", "^a|b", "^.b",
    "^[ab]", "^", ""
  };

  private final Random random;
  private final RandomBson values;

  public RandomFilters(Random random) {
    this.random = random;
    this.values = new RandomBson(random);
  }

  public BsonDocument document() {
    BsonDocument document = new BsonDocument();
    for (String field : new String[] {"a", "b"}) {
      if (random.nextInt(8) != 0) {
        document.append(field, scalar());
      }
    }
    switch (random.nextInt(10)) {
      case 0 -> {}
      case 1 -> document.append("c", scalar());
      default -> document.append("c", subDocument());
    }
    if (random.nextBoolean()) {
      document.append("x", random.nextInt(4) == 0 ? new BsonInt32(1) : scalar());
    }
    return document;
  }

  private BsonDocument subDocument() {
    BsonDocument inner = new BsonDocument();
    if (random.nextInt(8) != 0) {
      inner.append("d", scalar());
    }
    if (random.nextInt(3) == 0) {
      inner.append("e", scalar());
    }
    return inner;
  }

  /** A value that is not an array, often one of a few values. */
  public BsonValue scalar() {
    return switch (random.nextInt(4)) {
      case 0 -> new BsonInt32(random.nextInt(4));
      case 1 -> new BsonString(values.string());
      default -> values.value(1);
    };
  }

  public BsonDocument filter(int depth) {
    BsonDocument filter = new BsonDocument();
    int parts = random.nextInt(6) == 0 ? 0 : 1 + random.nextInt(3);
    for (int i = 0; i < parts; i++) {
      switch (random.nextInt(depth > 0 ? 12 : 9)) {
        case 0 -> filter.append("c", parentCondition());
        case 1 -> filter.append("x", condition(depth));
        case 2 -> filter.append("$expr", expression(1));
        case 9 -> filter.append("$and", filters(depth));
        case 10 -> filter.append("$or", filters(depth));
        case 11 -> filter.append("$nor", filters(depth));
        default -> filter.append(path(), condition(2));
      }
    }
    return filter;
  }

  private String path() {
    return PATHS.get(random.nextInt(PATHS.size()));
  }

  private BsonArray filters(int depth) {
    return array(1 + random.nextInt(3), () -> filter(depth - 1));
  }

  private static BsonArray array(int size, Supplier<? extends BsonValue> element) {
    List<BsonValue> elements = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      elements.add(element.get());
    }
    return new BsonArray(elements);
  }

  private BsonValue condition(int depth) {
    if (random.nextInt(3) == 0) {
      return random.nextInt(6) == 0 ? regex() : operand();
    }
    BsonDocument operators = new BsonDocument();
    for (int i = random.nextInt(3); i >= 0; i--) {
      switch (random.nextInt(13)) {
        case 0 -> operators.append("$eq", operand());
        case 1 -> operators.append("$ne", operand());
        case 2, 3 -> operators.append("$gt", comparable());
        case 4 -> operators.append("$gte", comparable());
        case 5, 6 -> operators.append("$lt", comparable());
        case 7 -> operators.append("$lte", comparable());
        case 8 -> operators.append("$in", array(random.nextInt(4), this::operandOrRegex));
        case 9 -> operators.append("$nin", array(random.nextInt(4), this::operandOrRegex));
        case 10 -> operators.append("$exists", BsonBoolean.valueOf(random.nextBoolean()));
        case 11 -> operators.append("$all", array(1 + random.nextInt(2), this::operand));
        default -> not(operators, depth);
      }
    }
    return operators;
  }

  private void not(BsonDocument operators, int depth) {
    if (random.nextInt(3) == 0) {
      operators.append("$not", regex());
    } else if (depth > 0 && random.nextBoolean()) {
      BsonValue inner = condition(depth - 1);
      boolean isOperators =
          inner.isDocument()
              && !inner.asDocument().isEmpty()
              && inner.asDocument().getFirstKey().startsWith("$");
      operators.append("$not", isOperators ? inner : new BsonDocument("$eq", operand()));
    } else {
      BsonRegularExpression regex = regex();
      operators.append("$regex", new BsonString(regex.getPattern()));
      operators.append("$options", new BsonString(regex.getOptions()));
    }
  }

  private BsonValue parentCondition() {
    return switch (random.nextInt(6)) {
      case 0 -> new BsonDocument("$eq", subDocument());
      case 1 -> new BsonDocument("$in", array(1 + random.nextInt(3), this::subDocument));
      case 2 -> new BsonDocument("$gt", subDocument());
      case 3 -> new BsonDocument("$ne", subDocument());
      case 4 -> operand();
      default -> subDocument();
    };
  }

  private BsonValue operandOrRegex() {
    return random.nextInt(6) == 0 ? regex() : operand();
  }

  /**
   * A value for an equality: never undefined, which servers refuse, and never a regular expression.
   */
  private BsonValue operand() {
    BsonValue value = random.nextInt(10) == 0 ? BsonNull.VALUE : scalar();
    return value.getBsonType() == BsonType.UNDEFINED || value.isRegularExpression()
        ? new BsonInt32(2)
        : value;
  }

  private BsonValue comparable() {
    return operand();
  }

  private BsonRegularExpression regex() {
    String options = random.nextInt(3) == 0 ? new String[] {"i", "m", "s"}[random.nextInt(3)] : "";
    return new BsonRegularExpression(REGEXES[random.nextInt(REGEXES.length)], options);
  }

  private BsonDocument expression(int depth) {
    int kind = random.nextInt(depth > 0 ? 10 : 7);
    if (kind == 7) {
      return new BsonDocument("$not", array(1, () -> expression(depth - 1)));
    }
    if (kind > 7) {
      return new BsonDocument(
          kind == 8 ? "$and" : "$or", array(1 + random.nextInt(2), () -> expression(depth - 1)));
    }
    BsonValue field = new BsonString("$" + path());
    if (kind == 6) {
      return new BsonDocument(
          "$in", new BsonArray(List.of(field, array(1 + random.nextInt(3), this::constant))));
    }
    String operator = new String[] {"$eq", "$ne", "$gt", "$gte", "$lt", "$lte"}[kind];
    return new BsonDocument(
        operator,
        new BsonArray(
            random.nextBoolean() ? List.of(field, constant()) : List.of(constant(), field)));
  }

  private BsonValue constant() {
    if (random.nextInt(4) == 0) {
      return new BsonString("$$v");
    }
    BsonValue value = operand();
    return new BsonDocument("$literal", value);
  }
}
