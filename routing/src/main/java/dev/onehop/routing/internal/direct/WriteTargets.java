package dev.onehop.routing.internal.direct;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;

/** Reads the statements of insert, update and delete commands. */
final class WriteTargets {
  private WriteTargets() {}

  /** Where a statement belongs under {@code table}. */
  static Target of(RoutingTable table, String command, RawBsonDocument statement) {
    return switch (command) {
      case "insert" -> Targeter.insert(table, statement);
      case "update" -> update(table, statement);
      default ->
          Targeter.delete(
              table, statement.getDocument("q"), isMulti(command, statement), options(statement));
    };
  }

  private static Target update(RoutingTable table, RawBsonDocument statement) {
    BsonDocument filter = statement.getDocument("q");
    BsonValue update = statement.get("u");
    boolean upsert = isUpsert(statement);
    TargetingOptions options = options(statement);
    return isReplacement(update)
        ? Targeter.replace(table, filter, update.asDocument(), upsert, options)
        : Targeter.update(table, filter, update, isMulti("update", statement), upsert, options);
  }

  /** Whether a statement of an update inserts if nothing matches. */
  static boolean isUpsert(BsonDocument statement) {
    return statement.getBoolean("upsert", BsonBoolean.FALSE).getValue();
  }

  /** Whether a statement of an update or a delete concerns all documents that match. */
  static boolean isMulti(String command, BsonDocument statement) {
    return switch (command) {
      case "delete" -> statement.getNumber("limit", new BsonInt32(1)).intValue() == 0;
      case "update" -> statement.getBoolean("multi", BsonBoolean.FALSE).getValue();
      default -> false;
    };
  }

  /** Collation and variables of a statement or of a whole command. */
  static TargetingOptions options(BsonDocument source) {
    BsonValue collation = source.get("collation");
    BsonValue let = source.get("let");
    if (collation == null && let == null) {
      return TargetingOptions.NONE;
    }
    return new TargetingOptions(
        collation == null ? null : collation.asDocument(), let == null ? null : let.asDocument());
  }

  private static boolean isReplacement(BsonValue update) {
    return update.isDocument()
        && (update.asDocument().isEmpty() || !update.asDocument().getFirstKey().startsWith("$"));
  }
}
