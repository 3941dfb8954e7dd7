package dev.onehop.routing.internal.direct;

import dev.onehop.shards.command.OwnDocumentStages;
import dev.onehop.wire.message.OpMsg;
import java.util.Set;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonValue;

/**
 * What a config server answers for the whole cluster, as mongos has it do: reads and writes of the
 * collections of {@code admin} and {@code config}, users and roles, and the default concerns. Any
 * other command to these databases it would take for one about itself.
 */
final class ConfigServerCommands {
  private static final Set<String> ON_COLLECTIONS =
      Set.of(
          "find",
          "aggregate",
          "count",
          "distinct",
          "listIndexes",
          "insert",
          "update",
          "delete",
          "findAndModify",
          "findandmodify");
  private static final Set<String> OTHERS =
      Set.of(
          "listCollections",
          "connectionStatus",
          "getDefaultRWConcern",
          "usersInfo",
          "rolesInfo",
          "createUser",
          "updateUser",
          "dropUser",
          "grantRolesToUser",
          "revokeRolesFromUser",
          "createRole",
          "updateRole",
          "dropRole");
  // Sharded, its documents are on the shards.
  private static final String SESSIONS = "system.sessions";

  private ConfigServerCommands() {}

  /** Whether the answer of a config server to a command on its databases holds for the cluster. */
  static boolean holdForCluster(OpMsg command) {
    String name = command.commandName();
    BsonDocument body = command.body();
    BsonDocument target =
        name.equals("explain") && body.isDocument("explain") && !body.getDocument(name).isEmpty()
            ? body.getDocument("explain")
            : body;
    String inner = target.getFirstKey();
    if (!ON_COLLECTIONS.contains(inner)) {
      return OTHERS.contains(name);
    }
    if (inner.equals("aggregate")
        && !OwnDocumentStages.areAll(
            target.getArray("pipeline", new BsonArray()).stream()
                .map(BsonValue::asDocument)
                .toList())) {
      return false;
    }
    BsonValue collection = target.get(inner);
    return collection != null
        && collection.isString()
        && !collection.asString().getValue().equals(SESSIONS);
  }
}
