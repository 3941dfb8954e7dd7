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

/** Tells where reads, and findAndModify, have to go. */
public final class ReadTargets {
  private ReadTargets() {}

  /**
   * The shards that may have what a command asks for.
   *
   * @param name of the command
   * @return null if it is another command
   */
  public static @Nullable Target of(RoutingTable table, String name, BsonDocument body) {
    TargetingOptions options = WriteTargets.options(body);
    return switch (name) {
      case "find" -> Targeter.find(table, CommandFields.document(body, "filter"), options);
      case "count", "distinct" ->
          Targeter.find(table, CommandFields.document(body, "query"), options);
      // Needs the whole shard key, as with a mongos before 7.0.
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
