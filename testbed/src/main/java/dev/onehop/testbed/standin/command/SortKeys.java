package dev.onehop.testbed.standin.command;

import dev.onehop.core.bson.BsonPath;
import dev.onehop.core.bson.SortableKeyBuilder;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The order of documents from several shards. Each shard adds its sort values as an array {@code
 * $sortKey} if the projection requests this metadata. With a collation, these values are the
 * collation's keys: bytes that have the type string. Thread-safe.
 */
final class SortKeys {
  static final String FIELD = "$sortKey";

  private static final BsonPath PATH = BsonPath.of(FIELD);
  private static final BsonString TEXT_SCORE = new BsonString("textScore");
  private static final int USUAL_LENGTH = 32;

  private final boolean[] descending;

  private SortKeys(boolean[] descending) {
    this.descending = descending;
  }

  /** Returns the order of a sort, or null if this router cannot compare documents in this order. */
  static @Nullable SortKeys of(BsonDocument sort) {
    boolean[] descending = new boolean[sort.size()];
    int field = 0;
    for (BsonValue direction : sort.values()) {
      if (isMeta(direction)) {
        if (!TEXT_SCORE.equals(direction.asDocument().get("$meta"))) {
          return null;
        }
        // a sort by score returns the best score first
        descending[field] = true;
      } else {
        // A value that is no number is not checked here, because the shards refuse it.
        descending[field] = direction.isNumber() && direction.asNumber().doubleValue() < 0;
      }
      field++;
    }
    return new SortKeys(descending);
  }

  private static boolean isMeta(BsonValue direction) {
    return direction.isDocument() && direction.asDocument().containsKey("$meta");
  }

  /** Returns the projection with the sort key added. */
  static BsonDocument projection(BsonDocument projection) {
    BsonDocument extended = new BsonDocument();
    extended.putAll(projection);
    return extended.append(FIELD, new BsonDocument("$meta", new BsonString("sortKey")));
  }

  /**
   * Returns the key of a document. The order of the keys as unsigned bytes is the sort order of the
   * documents.
   */
  byte[] key(RawBsonDocument document) {
    BsonPath.Located found = PATH.find(document);
    if (found == null) {
      throw new IllegalStateException("a shard has returned a document without " + FIELD);
    }
    return new SortableKeyBuilder(USUAL_LENGTH).addElements(found, descending).build();
  }
}
