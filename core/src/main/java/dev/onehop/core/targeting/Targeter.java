package dev.onehop.core.targeting;

import dev.onehop.core.bson.SortableKey;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyException;
import dev.onehop.core.table.ShardKeyField;
import dev.onehop.core.table.ShardKeyPattern;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Determines the chunks that an operation can touch, by the server's rules. Pure and thread-safe.
 *
 * <p>If the chunks cannot be determined, the result has all of them: too many shards cost time, but
 * a missing shard causes a wrong result. The rules rely on a restriction of the server: no document
 * has an array at or above a shard key field.
 */
public final class Targeter {
  private static final String WHOLE_KEY = "equality on the whole shard key";
  private static final String ID = "_id";
  private static final BsonTimestamp SERVER_TIME = new BsonTimestamp(0);

  private Targeter() {}

  /** The target of a find, a count or a distinct. */
  public static Target find(RoutingTable table, BsonDocument filter, TargetingOptions options) {
    if (!table.isSharded()) {
      return Target.primary(table);
    }
    if (table.isUnsplittable()) {
      return unsplittable(table);
    }
    boolean simpleCollation = Collations.isSimple(table, options);
    byte[] key = plainKey(table.shardKeyPattern(), filter, simpleCollation);
    return key != null
        ? Target.chunk(table, table.chunkIndexOf(key), WHOLE_KEY)
        : analyzed(table, filter, simpleCollation, options.let());
  }

  /**
   * The target of a pipeline. The leading {@code $match} stages determine the target; {@code $sort}
   * stages may stand before or between them. The caller has to handle stages that read or write
   * other collections.
   */
  public static Target aggregate(
      RoutingTable table, List<BsonDocument> pipeline, TargetingOptions options) {
    BsonArray matches = new BsonArray();
    for (BsonDocument stage : pipeline) {
      if (stage.isDocument("$match")) {
        matches.add(stage.getDocument("$match"));
      } else if (!stage.containsKey("$sort")) {
        break;
      }
    }
    return switch (matches.size()) {
      case 0 -> find(table, new BsonDocument(), options);
      case 1 -> find(table, matches.get(0).asDocument(), options);
      default -> find(table, new BsonDocument("$and", matches), options);
    };
  }

  /**
   * The target of an insert.
   *
   * @throws ShardKeyException if the document has an array at or above a shard key field
   */
  public static Target insert(RoutingTable table, BsonDocument document) {
    if (!table.isSharded()) {
      return Target.primary(table);
    }
    if (table.isUnsplittable()) {
      return unsplittable(table);
    }
    for (ShardKeyField field : table.shardKeyPattern().fields()) {
      if (field.path().parts().get(0).equals(ID) && !document.containsKey(ID)) {
        return Target.broadcast(table, "the shard key needs an _id, and the document has none yet");
      }
      if (SERVER_TIME.equals(document.get(field.path().toString()))) {
        return Target.broadcast(
            table, "the server will put its time into the shard key field " + field.path());
      }
    }
    return atKey(table, table.shardKeyPattern().keyOf(document), "the document's shard key");
  }

  /**
   * The target of an update.
   *
   * @param update operators, a pipeline, or a whole document, which is handled by {@link #replace}
   */
  public static Target update(
      RoutingTable table,
      BsonDocument filter,
      BsonValue update,
      boolean multi,
      boolean upsert,
      TargetingOptions options) {
    if (update.isDocument() && !multi) {
      BsonDocument document = update.asDocument();
      if (document.isEmpty() || !document.getFirstKey().startsWith("$")) {
        return replace(table, filter, document, upsert, options);
      }
    }
    return upsert ? upsert(table, filter, options) : find(table, filter, options);
  }

  /**
   * The target of a replacement. If the filter determines a single shard, the target is this shard.
   * Otherwise, if the filter is an exact {@code _id}, the target is the shard of the replacement
   * itself: the server does not allow a document to move if the filter has no shard key. For other
   * replacements, the target is every shard that the filter allows: servers from 7.0 on search all
   * these shards. Earlier servers search only the shard of the replacement.
   */
  public static Target replace(
      RoutingTable table,
      BsonDocument filter,
      BsonDocument replacement,
      boolean upsert,
      TargetingOptions options) {
    if (upsert) {
      return upsert(table, filter, options);
    }
    Target byFilter = find(table, filter, options);
    if (byFilter.isSingleShard() || !isExactId(filter, Collations.isSimple(table, options))) {
      return byFilter;
    }
    BsonDocument complete = replacement;
    if (!replacement.containsKey(ID)) {
      BsonValue id = filter.get(ID);
      complete = replacement.clone();
      complete.put(
          ID, id != null && FieldConditions.isOperators(id) ? id.asDocument().get("$eq") : id);
    }
    try {
      byte[] key = table.shardKeyPattern().keyOf(complete);
      return atKey(table, key, "the filter is an exact _id, and the replacement has the shard key");
    } catch (ShardKeyException e) {
      return Target.broadcast(table, "a replacement with " + e.getMessage());
    }
  }

  /** The target of a delete. */
  public static Target delete(
      RoutingTable table, BsonDocument filter, boolean multi, TargetingOptions options) {
    return find(table, filter, options);
  }

  /** The target of a findAndModify; a single shard only if the filter has the whole shard key. */
  public static Target findAndModify(
      RoutingTable table, BsonDocument filter, TargetingOptions options) {
    return byEqualityKey(table, filter, options, "findAndModify");
  }

  private static Target upsert(RoutingTable table, BsonDocument filter, TargetingOptions options) {
    return byEqualityKey(table, filter, options, "an upsert");
  }

  private static Target byEqualityKey(
      RoutingTable table, BsonDocument filter, TargetingOptions options, String operation) {
    if (!table.isSharded()) {
      return Target.primary(table);
    }
    if (table.isUnsplittable()) {
      return unsplittable(table);
    }
    boolean simpleCollation = Collations.isSimple(table, options);
    byte[] key = EqualityKey.of(table.shardKeyPattern(), filter, simpleCollation);
    return key != null
        ? Target.chunk(table, table.chunkIndexOf(key), WHOLE_KEY)
        : Target.broadcast(
            table,
            operation
                + " needs equality on the whole shard key "
                + table.shardKeyPattern()
                + (simpleCollation ? "" : "; with this collation, without strings in its values"));
  }

  private static Target unsplittable(RoutingTable table) {
    return Target.chunk(table, 0, "an unsharded collection has one chunk");
  }

  private static Target atKey(RoutingTable table, byte[] key, String reason) {
    return Target.chunk(table, table.chunkIndexOf(key), reason);
  }

  private static Target analyzed(
      RoutingTable table,
      BsonDocument filter,
      boolean simpleCollation,
      @Nullable BsonDocument let) {
    ShardKeyPattern pattern = table.shardKeyPattern();
    Notes notes = new Notes();
    if (!simpleCollation) {
      notes.add("strings compare by a collation");
    }
    KeySpace space = new FilterAnalyzer(pattern, simpleCollation, let, notes).analyze(filter);
    if (space.isAll()) {
      String why = "nothing in the filter restricts the shard key " + pattern;
      return Target.broadcast(table, notes.isEmpty() ? why : why + " (" + notes + ")");
    }
    BitSet chunks = KeyRanges.chunks(table, space);
    if (chunks.isEmpty()) {
      // No chunk can have a match, but some shard has to return the empty result.
      return Target.chunk(table, 0, "no document can match; any shard can return the empty result");
    }
    String why = "the filter restricts " + String.join(", ", boundFields(pattern, space));
    return Target.chunks(table, chunks, notes.isEmpty() ? why : why + " (" + notes + ")");
  }

  private static List<String> boundFields(ShardKeyPattern pattern, KeySpace space) {
    List<String> bound = new ArrayList<>();
    for (int i = 0; i < pattern.paths().size(); i++) {
      int field = i;
      if (space.boxes().stream().anyMatch(box -> !box[field].isAll())) {
        bound.add(pattern.paths().get(i));
      }
    }
    return bound;
  }

  /**
   * The key if the shard key has one field and the filter's top level has a plain value for it;
   * otherwise null. This is the common case. Other conditions of the filter do not matter, because
   * they can only reduce the result.
   */
  private static byte @Nullable [] plainKey(
      ShardKeyPattern pattern, BsonDocument filter, boolean simpleCollation) {
    if (pattern.isHashed() || pattern.fields().size() > 1) {
      return null;
    }
    ShardKeyField field = pattern.fields().get(0);
    BsonValue value = filter.get(field.path().toString());
    if (field.descending() || value == null) {
      return null;
    }
    boolean plain =
        switch (value.getBsonType()) {
          case INT32, INT64, DOUBLE, DECIMAL128, OBJECT_ID, BINARY, DATE_TIME, TIMESTAMP, BOOLEAN ->
              true;
          case STRING -> simpleCollation;
          default -> false;
        };
    return plain ? SortableKey.encode(value) : null;
  }

  private static boolean isExactId(BsonDocument filter, boolean simpleCollation) {
    BsonValue id = filter.size() == 1 ? filter.get(ID) : null;
    if (id != null && FieldConditions.isOperators(id)) {
      id = id.asDocument().size() == 1 ? id.asDocument().get("$eq") : null;
    }
    return id != null
        && !id.isRegularExpression()
        && !id.isArray()
        && (simpleCollation || !Collations.concerns(id));
  }
}
