package dev.onehop.copy.internal.apply;

import static dev.onehop.core.bson.Expressions.literal;

import com.mongodb.MongoNamespace;
import dev.onehop.copy.internal.KeyFields;
import dev.onehop.copy.internal.apply.Statement.Kind;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.core.bson.BsonPath;
import dev.onehop.core.bson.RawFields;
import dev.onehop.core.bson.SortableKey;
import dev.onehop.streams.mirror.FieldUpdates;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonNull;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;

/**
 * A collection of the destination. Immutable.
 *
 * @param namespace the name of the collection
 * @param shardKey the fields of the shard key; empty if the collection is not sharded
 * @param collated whether the collection has a default collation. Servers then compare the strings
 *     in a filter by the rules of this collation, unless the statement has another collation
 * @param capped whether the collection is capped: it keeps documents in the order of insertion and
 *     removes the oldest documents
 */
record Target(MongoNamespace namespace, List<String> shardKey, boolean collated, boolean capped) {
  static final String ID = "_id";

  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();

  Target {
    shardKey = List.copyOf(shardKey);
  }

  /**
   * Whether filters need the simple collation. A mongos compares shard keys by their bytes, and not
   * by the collation of the collection.
   */
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

  /**
   * A filter for the document of an event. It does not match a document with other values of the
   * {@code documentKey}.
   */
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

  /** Creates a statement that removes the document of an event. */
  Statement delete(BsonDocument documentKey) {
    return delete(id(documentKey), filter(documentKey), isPlacedBy(documentKey));
  }

  /** Creates a statement that removes a document that was read from the destination. */
  Statement deleteFound(RawBsonDocument found) {
    return delete(id(found), exactly(found), true);
  }

  static BsonValue id(BsonDocument documentKey) {
    BsonValue id = documentKey.get(ID);
    if (id == null) {
      throw new IllegalArgumentException("a documentKey without _id");
    }
    return id;
  }

  /**
   * Converts a value of {@code _id} to the key of a map. Two keys are equal if a server treats the
   * two values as equal.
   */
  static ByteBuffer key(BsonValue id) {
    return ByteBuffer.wrap(SortableKey.encode(id));
  }

  /** Creates a statement that replaces a document, or inserts it if it does not exist. */
  Statement put(RawBsonDocument document) {
    // Servers would read a replacement with such a name as update operators, or refuse it.
    BsonValue update =
        hasOperatorName(document)
            ? new BsonArray(List.of(new BsonDocument("$replaceWith", literal(document))))
            : document;
    BsonDocument filter = exactly(document);
    // If the existing _id has another type, the replacement changes the shard key. A server refuses
    // such a change if the filter has only an _id.
    BsonDocument body =
        new BsonDocument(
                "q",
                !shardKey.isEmpty() && isPlacedById()
                    ? new BsonDocument("$and", new BsonArray(List.of(filter)))
                    : filter)
            .append("u", update)
            .append("upsert", BsonBoolean.TRUE);
    return statement(id(document), body, Kind.PUT);
  }

  /** Creates an update with the field changes of events. */
  Statement update(BsonValue id, FieldUpdates.Update update) {
    return statement(
        id, new BsonDocument("q", update.filter()).append("u", update.update()), Kind.UPDATE);
  }

  /**
   * @param placed whether the filter has the shard key
   */
  private Statement delete(BsonValue id, BsonDocument filter, boolean placed) {
    return statement(
        id,
        new BsonDocument("q", filter).append("limit", new BsonInt32(1)),
        placed ? Kind.DELETE : Kind.SWEEP);
  }

  private Statement statement(BsonValue id, BsonDocument body, Kind kind) {
    return new Statement(
        id,
        new RawBsonDocument(
            isSimple() ? body.append("collation", CollectionSpec.SIMPLE) : body, CODEC),
        kind);
  }

  /**
   * Creates a statement for a document that probably does not exist yet. It is an insert, because
   * inserts cost servers less time than upserts.
   */
  Statement insert(RawBsonDocument document) {
    return hasOperatorName(document)
        ? put(document)
        : new Statement(id(document), document, Kind.INSERT);
  }

  private BsonDocument exactly(RawBsonDocument document) {
    BsonDocument filter = byId(id(document));
    placement(document).forEach(filter::put);
    return filter;
  }

  static boolean hasOperatorName(RawBsonDocument document) {
    return RawFields.anyNameBeginsWith('$', document);
  }

  /** The document's values of the shard key, without {@code _id}. */
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

  /** Creates a statement that removes all documents with an {@code _id}. */
  Statement deleteAll(BsonValue id) {
    return delete(id, byId(id), isPlacedById());
  }

  /**
   * Creates a statement that removes all documents with an {@code _id}, except the given documents.
   * All of them have the same {@code _id}, so the statement distinguishes them by their shard keys.
   *
   * @param documents the documents that are not removed, because they are kept or will be written
   * @return null if there can be no other documents
   */
  @Nullable Statement deleteOthers(BsonValue id, List<RawBsonDocument> documents) {
    if (documents.isEmpty()) {
      return deleteAll(id);
    }
    if (isPlacedById()) {
      return null;
    }
    List<BsonDocument> places = new ArrayList<>();
    documents.forEach(document -> places.add(placement(document)));
    return delete(id, byId(id).append("$nor", new BsonArray(places)), false);
  }
}
