package dev.onehop.shards.command;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.core.targeting.Targeter;
import dev.onehop.core.targeting.TargetingOptions;
import dev.onehop.wire.message.CommandFields;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/** Determines the targets of reads and findAndModify. */
public final class ReadTargets {
  private ReadTargets() {}

  /**
   * The shards that may have the data of a command.
   *
   * @param name the command's name
   * @param body the command's body
   * @return null for any command that is neither a read nor a findAndModify
   */
  public static @Nullable Target of(RoutingTable table, String name, BsonDocument body) {
    TargetingOptions options = WriteTargets.options(body);
    return switch (name) {
      case "find" -> Targeter.find(table, CommandFields.document(body, "filter"), options);
      case "count", "distinct" ->
          Targeter.find(table, CommandFields.document(body, "query"), options);
      // This case is separate, because the query of a findAndModify must contain the whole shard
      // key. A mongos before 7.0 has the same rule.
      case "findAndModify", "findandmodify" ->
          Targeter.findAndModify(table, CommandFields.document(body, "query"), options);
      case "aggregate" -> Targeter.aggregate(table, pipeline(body), options);
      default -> null;
    };
  }

  /** The stages of an aggregation. */
  public static List<BsonDocument> pipeline(BsonDocument aggregate) {
    return aggregate.getArray("pipeline", new BsonArray()).stream()
        .map(BsonValue::asDocument)
        .toList();
  }
}
