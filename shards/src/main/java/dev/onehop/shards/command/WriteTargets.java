package dev.onehop.shards.command;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import dev.onehop.wire.message.CommandFields;
import java.util.Objects;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/** Determines the targets of the statements of insert, update and delete commands. */
public final class WriteTargets {
  private WriteTargets() {}

  /** The target of a statement according to {@code table}. */
  public static Target of(RoutingTable table, String command, BsonDocument statement) {
    return switch (command) {
      case "insert" -> Targeter.insert(table, statement);
      case "update" -> update(table, statement);
      default ->
          Targeter.delete(
              table, statement.getDocument("q"), isMulti(command, statement), options(statement));
    };
  }

  private static Target update(RoutingTable table, BsonDocument statement) {
    BsonDocument filter = statement.getDocument("q");
    BsonValue update = Objects.requireNonNull(statement.get("u"), "u");
    boolean upsert = isUpsert(statement);
    TargetingOptions options = options(statement);
    return isReplacement(update)
        ? Targeter.replace(table, filter, update.asDocument(), upsert, options)
        : Targeter.update(table, filter, update, isMulti("update", statement), upsert, options);
  }

  /** Whether an update statement inserts a document if none matches. */
  public static boolean isUpsert(BsonDocument statement) {
    return CommandFields.flag(statement, "upsert");
  }

  /** Whether an update or delete statement applies to all matching documents. */
  public static boolean isMulti(String command, BsonDocument statement) {
    return switch (command) {
      case "delete" -> CommandFields.number(statement, "limit") == 0;
      case "update" -> CommandFields.flag(statement, "multi");
      default -> false;
    };
  }

  /** The collation and the variables ({@code let}) of a statement or of a whole command. */
  public static TargetingOptions options(BsonDocument source) {
    BsonDocument collation = source.get("collation") instanceof BsonDocument given ? given : null;
    BsonDocument let = source.get("let") instanceof BsonDocument given ? given : null;
    return collation == null && let == null
        ? TargetingOptions.NONE
        : new TargetingOptions(collation, let);
  }

  private static boolean isReplacement(BsonValue update) {
    return update.isDocument()
        && (update.asDocument().isEmpty() || !update.asDocument().getFirstKey().startsWith("$"));
  }
}
