package dev.onehop.testbed.standin.command;

import dev.onehop.shards.command.TransactionCommands;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.CommandFields;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.OpMsg;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Refuses commands with fields of wrong types or values, with the servers' error codes and
 * messages. Checks only the fields that the stand-in router reads. The servers check other fields.
 */
public final class CommandTypes {
  private static final Set<String> ON_COLLECTIONS =
      Set.of(
          "find",
          "count",
          "distinct",
          "findAndModify",
          "findandmodify",
          "insert",
          "update",
          "delete",
          "listIndexes",
          "killCursors",
          "create",
          "drop",
          "createIndexes",
          "dropIndexes",
          "collMod");
  private static final Set<String> COUNTING = Set.of("count", "distinct");

  private static final Map<String, Type> OF_ALL =
      Map.of(
          "lsid", Type.OBJECT,
          "txnNumber", Type.LONG,
          "autocommit", Type.BOOL,
          "startTransaction", Type.BOOL,
          "readConcern", Type.OBJECT,
          "writeConcern", Type.OBJECT,
          "$readPreference", Type.OBJECT,
          "recoveryToken", Type.OBJECT);
  private static final Map<String, Type> FIND_AND_MODIFY =
      Map.of("query", Type.OBJECT, "collation", Type.OBJECT, "let", Type.OBJECT);
  private static final Map<String, Map<String, Type>> BY_COMMAND =
      Map.ofEntries(
          Map.entry(
              "find",
              Map.ofEntries(
                  Map.entry("filter", Type.OBJECT),
                  Map.entry("sort", Type.OBJECT),
                  Map.entry("projection", Type.OBJECT),
                  Map.entry("skip", Type.COUNT),
                  Map.entry("limit", Type.COUNT),
                  Map.entry("batchSize", Type.COUNT),
                  Map.entry("singleBatch", Type.BOOL),
                  Map.entry("allowPartialResults", Type.BOOL),
                  Map.entry("noCursorTimeout", Type.BOOL),
                  Map.entry("collation", Type.OBJECT),
                  Map.entry("let", Type.OBJECT))),
          Map.entry(
              "aggregate",
              Map.of(
                  "pipeline", Type.REQUIRED_DOCUMENTS,
                  "cursor", Type.OBJECT,
                  "explain", Type.BOOL,
                  "collation", Type.OBJECT,
                  "let", Type.OBJECT)),
          Map.entry(
              "count",
              Map.of(
                  "query", Type.OBJECT,
                  "skip", Type.COUNT,
                  "limit", Type.NUMBER,
                  "collation", Type.OBJECT)),
          Map.entry("distinct", Map.of("query", Type.OBJECT, "collation", Type.OBJECT)),
          Map.entry("findAndModify", FIND_AND_MODIFY),
          Map.entry("findandmodify", FIND_AND_MODIFY),
          Map.entry(
              "getMore",
              Map.of(
                  "getMore", Type.REQUIRED_LONG,
                  "collection", Type.REQUIRED_STRING,
                  "batchSize", Type.COUNT,
                  "maxTimeMS", Type.COUNT)),
          Map.entry("killCursors", Map.of("cursors", Type.REQUIRED_LONGS)),
          Map.entry("insert", Map.of("documents", Type.DOCUMENTS, "ordered", Type.BOOL)),
          Map.entry(
              "update",
              Map.of("updates", Type.DOCUMENTS, "ordered", Type.BOOL, "let", Type.OBJECT)),
          Map.entry(
              "delete",
              Map.of("deletes", Type.DOCUMENTS, "ordered", Type.BOOL, "let", Type.OBJECT)),
          Map.entry("explain", Map.of("explain", Type.REQUIRED_OBJECT)),
          Map.entry(
              "renameCollection",
              Map.of(
                  "renameCollection", Type.REQUIRED_STRING,
                  "to", Type.REQUIRED_STRING,
                  "dropTarget", Type.BOOL)));
  private static final Map<String, Type> OF_UPDATES =
      Map.of(
          "q", Type.REQUIRED_OBJECT,
          "u", Type.REQUIRED,
          "multi", Type.BOOL,
          "upsert", Type.BOOL,
          "collation", Type.OBJECT);
  private static final Map<String, Type> OF_DELETES =
      Map.of("q", Type.REQUIRED_OBJECT, "limit", Type.REQUIRED, "collation", Type.OBJECT);

  /** The allowed type of a field. */
  private enum Type {
    OBJECT(false, BsonType.DOCUMENT),
    REQUIRED_OBJECT(true, BsonType.DOCUMENT),
    BOOL(false, BsonType.BOOLEAN),
    LONG(false, BsonType.INT64),
    REQUIRED_LONG(true, BsonType.INT64),
    REQUIRED_BINARY(true, BsonType.BINARY),
    TIMESTAMP(false, BsonType.TIMESTAMP),
    REQUIRED_STRING(true, BsonType.STRING),
    NUMBER(false, null),
    /** A non-negative number. */
    COUNT(false, null),
    /** Documents, which a message may also contain as a document sequence. */
    DOCUMENTS(false, BsonType.ARRAY),
    REQUIRED_DOCUMENTS(true, BsonType.ARRAY),
    REQUIRED_LONGS(true, BsonType.ARRAY),
    REQUIRED(true, null);

    private final boolean required;
    private final @Nullable BsonType only;

    /**
     * @param only the only allowed type; null if several types are allowed
     */
    Type(boolean required, @Nullable BsonType only) {
      this.required = required;
      this.only = only;
    }

    private boolean allows(BsonValue value) {
      return switch (this) {
        case NUMBER, COUNT -> value.isNumber();
        case REQUIRED -> true;
        default -> value.getBsonType() == only;
      };
    }

    private String expected() {
      return only == null
          ? "expected types '[long, int, decimal, double]'"
          : "expected type '" + nameOf(only) + "'";
    }

    private @Nullable BsonType ofElements() {
      return switch (this) {
        case DOCUMENTS, REQUIRED_DOCUMENTS -> BsonType.DOCUMENT;
        case REQUIRED_LONGS -> BsonType.INT64;
        default -> null;
      };
    }
  }

  private CommandTypes() {}

  /**
   * Checks a command.
   *
   * @throws CommandFailure if a server would refuse the type or the value of a field
   */
  public static void check(OpMsg command) {
    BsonDocument body = command.body();
    String name = command.commandName();
    check(name, OF_ALL, body);
    if ((TransactionCommands.isPart(command) || TransactionCommands.isEnd(command))
        && !(body.containsKey("txnNumber") && body.containsKey("lsid"))) {
      throw new CommandFailure(
          ErrorCodes.INVALID_OPTIONS,
          "InvalidOptions",
          "'autocommit' field requires a transaction number and a session to also be specified");
    }
    check(name, body);
    if (name.equals("explain")) {
      BsonDocument explained = body.getDocument("explain");
      check(explained.isEmpty() ? "" : explained.getFirstKey(), explained);
    }
    if (name.equals("update")) {
      command.documents("updates").forEach(each -> check("update.updates", OF_UPDATES, each));
    } else if (name.equals("delete")) {
      command.documents("deletes").forEach(each -> check("delete.deletes", OF_DELETES, each));
    }
  }

  /**
   * Checks the session of a transaction that runs on this router.
   *
   * @throws CommandFailure if the session has no identifier
   */
  public static void checkSession(OpMsg command) {
    check(
        "OperationSessionInfo.lsid",
        Map.of("id", Type.REQUIRED_BINARY),
        CommandFields.document(command.body(), "lsid"));
  }

  private static void check(String name, BsonDocument body) {
    if (ON_COLLECTIONS.contains(name)) {
      checkCollection(name, body);
    }
    check(name, BY_COMMAND.getOrDefault(name, Map.of()), body);
    if (name.equals("aggregate")) {
      checkAggregate(body);
    } else if (name.equals("count") && CommandFields.number(body, "limit") == Long.MIN_VALUE) {
      throw badValue("limit value for count cannot be min long");
    }
  }

  private static void checkCollection(String name, BsonDocument body) {
    BsonValue collection = body.get(name);
    if (collection == null || !collection.isString()) {
      String message = "collection name has invalid type " + nameOf(typeOf(collection));
      throw COUNTING.contains(name) ? invalidNamespace(message) : badValue(message);
    }
    if (collection.asString().getValue().isEmpty()) {
      throw invalidNamespace("Invalid namespace specified: the collection has no name");
    }
  }

  private static void checkAggregate(BsonDocument body) {
    BsonValue collection = Objects.requireNonNull(body.get("aggregate"));
    if (collection.isString() && collection.asString().getValue().isEmpty()) {
      throw invalidNamespace("Invalid namespace specified: the collection has no name");
    }
    if (!collection.isString()
        && !(collection.isNumber() && CommandFields.number(body, "aggregate") == 1)) {
      throw new CommandFailure(
          ErrorCodes.FAILED_TO_PARSE,
          "FailedToParse",
          "Invalid command format: the 'aggregate' field must specify a collection name or 1");
    }
    for (BsonValue stage : body.getArray("pipeline")) {
      if (stage.asDocument().size() != 1) {
        throw new CommandFailure(
            40323,
            "Location40323",
            "A pipeline stage specification object must contain exactly one field.");
      }
    }
    check("cursor", Map.of("batchSize", Type.COUNT), CommandFields.document(body, "cursor"));
    if (isChangeStream(body)) {
      BsonDocument stage = body.getArray("pipeline").get(0).asDocument();
      check("aggregate", Map.of("$changeStream", Type.OBJECT), stage);
      check(
          "$changeStream",
          Map.of("startAtOperationTime", Type.TIMESTAMP),
          CommandFields.document(stage, "$changeStream"));
    }
  }

  /** Whether an aggregation is a change stream. */
  public static boolean isChangeStream(BsonDocument aggregate) {
    return aggregate.get("pipeline") instanceof BsonArray pipeline
        && !pipeline.isEmpty()
        && pipeline.get(0).isDocument()
        && pipeline.get(0).asDocument().containsKey("$changeStream");
  }

  private static void check(String of, Map<String, Type> fields, BsonDocument document) {
    fields.forEach((field, type) -> check(of + "." + field, field, type, document.get(field)));
  }

  private static void check(String path, String field, Type type, @Nullable BsonValue value) {
    if (value == null) {
      if (type.required) {
        throw new CommandFailure(
            40414, "Location40414", "BSON field '" + path + "' is missing but a required field");
      }
      return;
    }
    if (value.isNull() && !type.required) {
      return;
    }
    if (!type.allows(value)) {
      throw wrongType(path, value, type.expected());
    }
    if (type == Type.COUNT) {
      long count = CommandFields.number(new BsonDocument(field, value), field);
      if (count < 0) {
        throw new CommandFailure(
            51024,
            "Location51024",
            "BSON field '" + field + "' value must be >= 0, actual value '" + count + "'");
      }
    }
    BsonType ofElements = type.ofElements();
    if (ofElements != null) {
      checkElements(path, ofElements, value.asArray());
    }
  }

  private static void checkElements(String path, BsonType expected, BsonArray array) {
    // Uses the iterator, because access by index reads a raw array from its start each time.
    int index = 0;
    for (BsonValue value : array) {
      if (value.getBsonType() != expected) {
        throw wrongType(path + "." + index, value, "expected type '" + nameOf(expected) + "'");
      }
      index++;
    }
  }

  private static CommandFailure wrongType(String path, BsonValue value, String expected) {
    return new CommandFailure(
        ErrorCodes.TYPE_MISMATCH,
        "TypeMismatch",
        "BSON field '%s' is the wrong type '%s', %s"
            .formatted(path, nameOf(value.getBsonType()), expected));
  }

  private static CommandFailure badValue(String message) {
    return new CommandFailure(ErrorCodes.BAD_VALUE, "BadValue", message);
  }

  private static CommandFailure invalidNamespace(String message) {
    return new CommandFailure(ErrorCodes.INVALID_NAMESPACE, "InvalidNamespace", message);
  }

  private static BsonType typeOf(@Nullable BsonValue value) {
    return value == null ? BsonType.NULL : value.getBsonType();
  }

  /** The servers' name for a type. */
  private static String nameOf(BsonType type) {
    return switch (type) {
      case DOCUMENT -> "object";
      case BOOLEAN -> "bool";
      case INT32 -> "int";
      case INT64 -> "long";
      case DECIMAL128 -> "decimal";
      case BINARY -> "binData";
      case OBJECT_ID -> "objectId";
      case DATE_TIME -> "date";
      case REGULAR_EXPRESSION -> "regex";
      case DB_POINTER -> "dbPointer";
      case JAVASCRIPT_WITH_SCOPE -> "javascriptWithScope";
      case MIN_KEY -> "minKey";
      case MAX_KEY -> "maxKey";
      default -> type.name().toLowerCase(Locale.ROOT);
    };
  }
}
