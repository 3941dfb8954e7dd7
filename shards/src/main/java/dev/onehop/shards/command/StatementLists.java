package dev.onehop.shards.command;

import dev.onehop.core.bson.RawFields;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.OpMsg.Sequence;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;

/** The statements of insert, update and delete commands, which may be split between servers. */
public final class StatementLists {
  private StatementLists() {}

  /**
   * The field with the statements of a command.
   *
   * @param command insert, update or delete
   */
  public static String field(String command) {
    return command.equals("insert") ? "documents" : command + "s";
  }

  /**
   * A command with some of its statements. If the command is retryable, {@code stmtIds} contains
   * the ids that the statements have in the whole command. A statement thus has the same id in the
   * retry history of a new owner, if its chunk moves.
   *
   * @param statements all statements of the command
   * @param indexes the indexes of the statements to keep
   */
  public static OpMsg part(OpMsg command, List<RawBsonDocument> statements, List<Integer> indexes) {
    if (indexes.size() == statements.size()) {
      return command;
    }
    String field = field(command.commandName());
    BsonDocument body = RawFields.without(Set.of(field, "stmtIds"), command.body());
    if (command.body().containsKey("txnNumber") && !command.body().containsKey("autocommit")) {
      body.append("stmtIds", statementIds(command, indexes));
    }
    List<RawBsonDocument> documents = new ArrayList<>(indexes.size());
    for (int index : indexes) {
      documents.add(statements.get(index));
    }
    return command.withSequences(List.of(new Sequence(field, documents))).withBody(body);
  }

  private static BsonArray statementIds(OpMsg command, List<Integer> indexes) {
    BsonValue given = command.body().get("stmtIds");
    // The ids are copied to a list, because access by index reads an encoded array from its start
    // each time.
    List<BsonValue> all = given == null ? List.of() : List.copyOf(given.asArray());
    BsonArray ids = new BsonArray();
    for (int index : indexes) {
      ids.add(given != null ? all.get(index) : new BsonInt32(index));
    }
    return ids;
  }
}
