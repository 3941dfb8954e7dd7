package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import dev.onehop.copy.progress.CopyOperation;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * An event of a document, as a server sent it.
 *
 * @param type {@code operationType}
 * @param namespace of the source
 * @param uuid of its collection; null from servers that don't tell
 * @param time its cluster time
 * @param key its {@code documentKey}
 * @param event the whole
 */
record DocumentEvent(
    String type,
    MongoNamespace namespace,
    @Nullable BsonBinary uuid,
    BsonTimestamp time,
    RawBsonDocument key,
    BsonDocument event) {

  /** Reads an event; null if it is none of a document. */
  static @Nullable DocumentEvent of(BsonDocument event) {
    if (!(event.get("documentKey") instanceof RawBsonDocument key)) {
      return null;
    }
    BsonDocument name = event.getDocument("ns");
    return new DocumentEvent(
        event.getString("operationType").getValue(),
        new MongoNamespace(name.getString("db").getValue(), name.getString("coll").getValue()),
        event.get("collectionUUID") instanceof BsonBinary uuid ? uuid : null,
        event.getTimestamp("clusterTime"),
        key,
        event);
  }

  BsonValue id() {
    return Target.id(key);
  }

  /** The document, told apart from others of a collection of the same name. */
  Lane.Document document() {
    return new Lane.Document(uuid == null ? namespace : uuid, Ids.key(id()));
  }

  /** The kind of its type; null if that is not known. */
  @Nullable CopyOperation operation() {
    return switch (type) {
      case "insert" -> CopyOperation.INSERT;
      case "update", "replace" -> CopyOperation.UPDATE;
      case "delete" -> CopyOperation.DELETE;
      default -> null;
    };
  }
}
