package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import dev.onehop.copy.internal.KeyFields;
import dev.onehop.core.bson.BsonPath;
import dev.onehop.core.bson.RawFields;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * A collection of the destination. Immutable.
 *
 * @param namespace its name
 * @param shardKey the fields of its shard key; none if it is not sharded
 * @param collated whether strings of filters are compared by a collation of the collection
 * @param capped whether it keeps documents in the order of insertion and drops the oldest
 */
record Target(MongoNamespace namespace, List<String> shardKey, boolean collated, boolean capped) {
  static final String ID = "_id";

  Target {
    shardKey = List.copyOf(shardKey);
  }

  /** Whether filters need the simple collation: shard keys are compared by their bytes. */
  boolean isSimple() {
    return collated && !shardKey.isEmpty();
  }

  /** Whether the {@code _id} alone decides which shard owns a document. */
  boolean isPlacedById() {
    for (String field : shardKey) {
      if (!KeyFields.isOfId(field)) {
        return false;
      }
    }
    return true;
  }

  /** Whether the key of an event decides which shard owns its document. */
  boolean isPlacedBy(BsonDocument documentKey) {
    for (String field : shardKey) {
      if (!KeyFields.isOfId(field) && !documentKey.containsKey(field)) {
        return false;
      }
    }
    return true;
  }

  /** Matches the document of an event, and none that has other values of these fields. */
  static BsonDocument filter(BsonDocument documentKey) {
    BsonDocument filter = new BsonDocument();
    for (Map.Entry<String, BsonValue> field : documentKey.entrySet()) {
      filter.append(field.getKey(), equal(field.getValue()));
    }
    return filter;
  }

  private static BsonValue equal(BsonValue value) {
    return value.isDocument() || value.isRegularExpression()
        ? new BsonDocument("$eq", value)
        : value;
  }

  private static BsonDocument byId(BsonValue id) {
    return new BsonDocument(ID, equal(id));
  }

  /** Removes the document of an event. */
  Statement delete(BsonDocument documentKey) {
    return Statement.delete(
        id(documentKey),
        filter(documentKey),
        isSimple(),
        isPlacedBy(documentKey) ? Statement.Kind.DELETE : Statement.Kind.SWEEP);
  }

  /** Removes a document that was found. */
  Statement deleteFound(RawBsonDocument found) {
    return Statement.delete(id(found), exactly(found), isSimple(), Statement.Kind.DELETE);
  }

  static BsonValue id(BsonDocument documentKey) {
    BsonValue id = documentKey.get(ID);
    if (id == null) {
      throw new IllegalArgumentException("a documentKey without _id");
    }
    return id;
  }

  /** Writes a whole document, over an existing one or not. */
  Statement put(RawBsonDocument document) {
    // Servers would take such a replacement for operators, or refuse it.
    BsonValue update =
        hasOperatorName(document)
            ? new BsonArray(
                List.of(new BsonDocument("$replaceWith", new BsonDocument("$literal", document))))
            : document;
    BsonDocument filter = exactly(document);
    return Statement.update(
        id(document),
        // If the existing _id has another type, a server sees a change of the shard key. It refuses
        // that if the filter is an _id and nothing else.
        !shardKey.isEmpty() && isPlacedById()
            ? new BsonDocument("$and", new BsonArray(List.of(filter)))
            : filter,
        isSimple(),
        update,
        Statement.Kind.PUT);
  }

  /** Writes a document that probably does not exist yet. Inserts cost servers less. */
  Statement insert(RawBsonDocument document) {
    return hasOperatorName(document)
        ? put(document)
        : new Statement(id(document), document, Statement.Kind.INSERT);
  }

  private BsonDocument exactly(RawBsonDocument document) {
    BsonDocument filter = byId(id(document));
    placement(document).forEach(filter::put);
    return filter;
  }

  static boolean hasOperatorName(RawBsonDocument document) {
    return RawFields.anyNameBeginsWith('$', document);
  }

  /** Values of the shard key without {@code _id}. */
  private BsonDocument placement(RawBsonDocument document) {
    BsonDocument values = new BsonDocument();
    for (String field : shardKey) {
      if (!KeyFields.isOfId(field)) {
        BsonPath.Located value = BsonPath.of(field).find(document);
        values.append(field, value == null ? BsonNull.VALUE : equal(value.value()));
      }
    }
    return values;
  }

  /**
   * Removes the documents of an {@code _id} that have other shard keys than these.
   *
   * @param documents the documents that stay or will be written
   * @return null if there can be none
   */
  @Nullable Statement deleteOthers(BsonValue id, List<RawBsonDocument> documents) {
    if (documents.isEmpty()) {
      return Statement.delete(
          id, byId(id), isSimple(), isPlacedById() ? Statement.Kind.DELETE : Statement.Kind.SWEEP);
    }
    if (isPlacedById()) {
      return null;
    }
    List<BsonDocument> places = new ArrayList<>();
    documents.forEach(document -> places.add(placement(document)));
    return Statement.delete(
        id, byId(id).append("$nor", new BsonArray(places)), isSimple(), Statement.Kind.SWEEP);
  }
}
