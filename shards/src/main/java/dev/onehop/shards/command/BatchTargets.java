package dev.onehop.shards.command;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyException;
import dev.onehop.core.targeting.Target;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The targets of a batch's statements according to one routing table. The keys of the maps are the
 * indexes of the statements.
 *
 * @param table the routing table
 * @param targets the targets of the valid statements
 * @param faults the errors of the invalid statements, with the error codes of mongos
 */
public record BatchTargets(
    RoutingTable table,
    SortedMap<Integer, Target> targets,
    SortedMap<Integer, CommandFailure> faults) {

  /** Whether each statement has a single owner. */
  public boolean isByOwner() {
    return faults.isEmpty() && targets.values().stream().allMatch(Target::isSingleShard);
  }

  /** The one shard that owns all data that a statement touches; null if there is no such shard. */
  @Nullable String owner(int index) {
    Target target = targets.get(index);
    return target != null && target.isSingleShard() ? target.shard() : null;
  }

  /**
   * Determines the targets of statements.
   *
   * @param command insert, update or delete
   * @param indexes the indexes of the statements whose targets are determined
   */
  static BatchTargets of(
      RoutingTable table,
      String command,
      List<RawBsonDocument> statements,
      Iterable<Integer> indexes) {
    BatchTargets placement = new BatchTargets(table, new TreeMap<>(), new TreeMap<>());
    for (int index : indexes) {
      try {
        placement.targets.put(index, target(table, command, statements.get(index)));
      } catch (CommandFailure fault) {
        placement.faults.put(index, fault);
      }
    }
    return placement;
  }

  private static Target target(RoutingTable table, String command, RawBsonDocument statement) {
    if ((!command.equals("insert") && !statement.isDocument("q"))
        || (command.equals("update") && !statement.containsKey("u"))) {
      throw fault("the statement is incomplete");
    }
    Target target;
    try {
      target = WriteTargets.of(table, command, statement);
    } catch (ShardKeyException e) {
      throw fault(
          "Shard key cannot contain array values or array descendants :: " + e.getMessage());
    }
    if (!target.isSingleShard()) {
      // An insert needs a single shard, because the document would be an orphan on every other
      // shard.
      if (command.equals("insert")) {
        throw fault("Failed to target insert :: " + target.reason());
      }
      if (command.equals("update") && WriteTargets.isUpsert(statement)) {
        throw fault("Failed to target upsert by query :: could not extract exact shard key");
      }
    }
    return target;
  }

  private static CommandFailure fault(String message) {
    return new CommandFailure(ErrorCodes.SHARD_KEY_NOT_FOUND, "ShardKeyNotFound", message);
  }
}
