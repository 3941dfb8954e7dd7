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
 * Where statements of a batch belong under one table, by their indexes.
 *
 * @param targets of those that can be carried out
 * @param faults why the others can't, with mongos's error codes
 */
public record BatchTargets(
    RoutingTable table,
    SortedMap<Integer, Target> targets,
    SortedMap<Integer, CommandFailure> faults) {

  /** Whether every statement has one shard that owns all that it touches. */
  public boolean isByOwner() {
    return faults.isEmpty() && targets.values().stream().allMatch(Target::isSingleShard);
  }

  /** The one shard that owns all that a statement touches; null if there is none. */
  @Nullable String owner(int index) {
    Target target = targets.get(index);
    return target != null && target.isSingleShard() ? target.shard() : null;
  }

  /**
   * Places statements.
   *
   * @param command insert, update or delete
   * @param indexes of those that are to be placed
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
      // One document goes to one shard: on any other it would be an orphan.
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
