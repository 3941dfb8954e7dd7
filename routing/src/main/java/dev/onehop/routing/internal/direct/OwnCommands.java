package dev.onehop.routing.internal.direct;

import dev.onehop.shards.command.ReadTargets;
import dev.onehop.shards.command.SingleCollectionStages;
import dev.onehop.shards.command.StatementLists;
import dev.onehop.shards.command.TransactionCommands;
import dev.onehop.wire.message.CommandFields;
import dev.onehop.wire.message.OpMsg;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonType;
import org.jspecify.annotations.Nullable;

/**
 * Decides which commands direct mode executes itself if one shard owns all data they touch.
 * Malformed commands go to a mongos, which returns the error.
 */
final class OwnCommands {
  private static final Set<String> READS =
      Set.of("find", "count", "distinct", "aggregate", "findAndModify", "findandmodify");
  private static final Set<String> WRITES = Set.of("insert", "update", "delete");
  private static final Set<String> OF_CONFIG_SERVERS = Set.of("admin", "config");
  private static final BsonString SNAPSHOT = new BsonString("snapshot");

  private OwnCommands() {}

  /**
   * Whether a command reads from open cursors or closes them. Such a command needs no decision,
   * because the router stores the server of each open cursor.
   */
  static boolean isOnOwnCursors(OpMsg command) {
    return switch (command.commandName()) {
      case "getMore" -> command.body().isInt64("getMore");
      case "killCursors" -> hasOnly(BsonType.INT64, command.body(), "cursors");
      default -> false;
    };
  }

  static boolean isWrite(OpMsg command) {
    return WRITES.contains(command.commandName());
  }

  /**
   * The reason why only a mongos executes a command, as a noun for messages; null if one shard may
   * execute it.
   */
  static @Nullable String whyNot(OpMsg command) {
    String name = command.commandName();
    BsonDocument body = command.body();
    if (TransactionCommands.isPart(command)) {
      return "a transaction";
    }
    if (OF_CONFIG_SERVERS.contains(command.database())) {
      return "the command " + name + " on " + command.database();
    }
    if (!READS.contains(name) && !isWrite(command)) {
      return "the command " + name;
    }
    // A snapshot read may need the owners at an earlier time, but the table has only the present
    // owners.
    if (SNAPSHOT.equals(CommandFields.document(body, "readConcern").get("level"))) {
      return "read concern snapshot";
    }
    if (!body.isString(name) || body.getString(name).getValue().isEmpty()) {
      return "the command " + name + " without a collection";
    }
    String list = StatementLists.field(name);
    if (isWrite(command) && body.containsKey(list) && !hasOnly(BsonType.DOCUMENT, body, list)) {
      return "the command " + name + " without statements";
    }
    return name.equals("aggregate") ? whyNot(body) : null;
  }

  private static @Nullable String whyNot(BsonDocument aggregate) {
    if (!hasOnly(BsonType.DOCUMENT, aggregate, "pipeline")) {
      return "an aggregation without a pipeline";
    }
    if (CommandFields.flag(aggregate, "explain")) {
      return "an aggregation with explain";
    }
    String stage = SingleCollectionStages.firstOther(ReadTargets.pipeline(aggregate));
    return stage == null ? null : "the stage " + stage;
  }

  private static boolean hasOnly(BsonType type, BsonDocument body, String array) {
    return body.get(array) instanceof BsonArray values
        && values.stream().allMatch(value -> value.getBsonType() == type);
  }
}
