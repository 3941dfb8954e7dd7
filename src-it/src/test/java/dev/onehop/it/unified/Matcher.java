package dev.onehop.it.unified;

import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** Compares values with the expected ones by the specification's rules. */
final class Matcher {
  private static final Map<String, BsonType> TYPES =
      Map.ofEntries(
          Map.entry("double", BsonType.DOUBLE),
          Map.entry("string", BsonType.STRING),
          Map.entry("object", BsonType.DOCUMENT),
          Map.entry("array", BsonType.ARRAY),
          Map.entry("binData", BsonType.BINARY),
          Map.entry("undefined", BsonType.UNDEFINED),
          Map.entry("objectId", BsonType.OBJECT_ID),
          Map.entry("bool", BsonType.BOOLEAN),
          Map.entry("date", BsonType.DATE_TIME),
          Map.entry("null", BsonType.NULL),
          Map.entry("regex", BsonType.REGULAR_EXPRESSION),
          Map.entry("dbPointer", BsonType.DB_POINTER),
          Map.entry("javascript", BsonType.JAVASCRIPT),
          Map.entry("symbol", BsonType.SYMBOL),
          Map.entry("javascriptWithScope", BsonType.JAVASCRIPT_WITH_SCOPE),
          Map.entry("int", BsonType.INT32),
          Map.entry("timestamp", BsonType.TIMESTAMP),
          Map.entry("long", BsonType.INT64),
          Map.entry("decimal", BsonType.DECIMAL128),
          Map.entry("minKey", BsonType.MIN_KEY),
          Map.entry("maxKey", BsonType.MAX_KEY));

  private final Entities entities;

  Matcher(Entities entities) {
    this.entities = entities;
  }

  /**
   * Compares two values. A document may have additional fields, also in an array.
   *
   * @throws AssertionError if they differ
   */
  void matches(BsonValue expected, @Nullable BsonValue actual, String what) {
    try {
      match(expected, actual, true, "");
    } catch (AssertionError e) {
      throw new AssertionError(
          "%s: %s%n expected: %s%n actual: %s".formatted(what, e.getMessage(), expected, actual),
          e);
    }
  }

  private void match(BsonValue expected, @Nullable BsonValue actual, boolean root, String path) {
    if (expected.isDocument()) {
      document(expected.asDocument(), actual, root, path);
    } else if (actual == null) {
      // The driver returns null for a missing value.
      if (!expected.isNull() || !path.isEmpty()) {
        throw new AssertionError(path + " is missing");
      }
    } else if (expected.isArray()) {
      array(expected.asArray(), actual, root, path);
    } else if (expected.isNumber() && actual.isNumber()) {
      check(
          expected.asNumber().doubleValue() == actual.asNumber().doubleValue()
              && expected.asNumber().longValue() == actual.asNumber().longValue(),
          path,
          expected,
          actual);
    } else {
      check(expected.equals(actual), path, expected, actual);
    }
  }

  private static void check(boolean equal, String path, BsonValue expected, BsonValue actual) {
    if (!equal) {
      throw new AssertionError("%s is %s and should be %s".formatted(path, actual, expected));
    }
  }

  private void array(BsonArray expected, BsonValue actual, boolean root, String path) {
    check(actual.isArray() && actual.asArray().size() == expected.size(), path, expected, actual);
    for (int i = 0; i < expected.size(); i++) {
      BsonValue each = expected.get(i);
      match(each, actual.asArray().get(i), root && each.isDocument(), path + "[" + i + "]");
    }
  }

  private void document(
      BsonDocument expected, @Nullable BsonValue actual, boolean root, String path) {
    if (expected.size() == 1 && expected.getFirstKey().startsWith("$$")) {
      operator(expected.getFirstKey(), expected.get(expected.getFirstKey()), actual, path);
      return;
    }
    if (actual == null || !actual.isDocument()) {
      throw new AssertionError("%s is %s and should be %s".formatted(path, actual, expected));
    }
    expected.forEach(
        (key, value) -> match(value, actual.asDocument().get(key), false, path + "." + key));
    if (!root) {
      for (String key : actual.asDocument().keySet()) {
        if (!expected.containsKey(key)) {
          throw new AssertionError(path + " has one field too many: " + key);
        }
      }
    }
  }

  private void operator(String name, BsonValue operand, @Nullable BsonValue actual, String path) {
    if (name.equals("$$exists")) {
      if (operand.asBoolean().getValue() != (actual != null)) {
        throw new AssertionError(path + (actual == null ? " is missing" : " is there: " + actual));
      }
      return;
    }
    if (name.equals("$$unsetOrMatches")) {
      if (actual != null) {
        match(operand, actual, path.isEmpty(), path);
      }
      return;
    }
    if (actual == null) {
      throw new AssertionError(path + " is missing");
    }
    switch (name) {
      case "$$type" -> {
        List<BsonValue> types = operand.isArray() ? operand.asArray() : List.of(operand);
        if (types.stream().noneMatch(type -> isOf(type.asString().getValue(), actual))) {
          throw new AssertionError(
              "%s is of type %s, not %s".formatted(path, actual.getBsonType(), types));
        }
      }
      case "$$matchesEntity" ->
          match(entities.value(operand.asString().getValue()), actual, false, path);
      case "$$matchesHexBytes" ->
          check(
              HexFormat.of()
                  .formatHex(actual.asBinary().getData())
                  .equals(operand.asString().getValue()),
              path,
              operand,
              actual);
      case "$$sessionLsid" ->
          check(
              entities.lsid(operand.asString().getValue()).equals(actual),
              path,
              entities.lsid(operand.asString().getValue()),
              actual);
      case "$$lte" ->
          check(
              actual.asNumber().doubleValue() <= operand.asNumber().doubleValue(),
              path,
              operand,
              actual);
      case "$$matchAsRoot" -> match(operand, actual, true, path);
      case "$$matchAsDocument" ->
          match(operand, BsonDocument.parse(actual.asString().getValue()), false, path);
      default -> throw new AssertionError("the runner does not know " + name);
    }
  }

  private static boolean isOf(String type, BsonValue actual) {
    return type.equals("number") ? actual.isNumber() : actual.getBsonType() == TYPES.get(type);
  }
}
