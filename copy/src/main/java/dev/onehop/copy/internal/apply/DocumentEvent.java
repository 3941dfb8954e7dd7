package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.core.bson.BsonPath;
import java.util.Objects;
import org.bson.BsonBinary;
import org.bson.BsonTimestamp;
import org.bson.BsonType;
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
    RawBsonDocument event) {
  private static final BsonPath TYPE = BsonPath.of("operationType");
  private static final BsonPath DATABASE = BsonPath.of("ns.db");
  private static final BsonPath COLLECTION = BsonPath.of("ns.coll");
  private static final BsonPath UUID = BsonPath.of("collectionUUID");
  private static final BsonPath TIME = BsonPath.of("clusterTime");
  private static final BsonPath KEY = BsonPath.of("documentKey");
  private static final BsonPath FULL = BsonPath.of("fullDocument");
  private static final BsonPath DESCRIPTION = BsonPath.of("updateDescription");

  /** Reads an event; null if it is none of a document. */
  static @Nullable DocumentEvent of(RawBsonDocument event) {
    BsonPath.Located key = KEY.find(event);
    RawBsonDocument documentKey = key == null ? null : key.document();
    if (documentKey == null) {
      return null;
    }
    BsonPath.Located uuid = UUID.find(event);
    return new DocumentEvent(
        value(TYPE, event).asString().getValue(),
        new MongoNamespace(
            value(DATABASE, event).asString().getValue(),
            value(COLLECTION, event).asString().getValue()),
        uuid != null && uuid.type() == BsonType.BINARY ? uuid.value().asBinary() : null,
        value(TIME, event).asTimestamp(),
        documentKey,
        event);
  }

  private static BsonPath.Located located(BsonPath path, RawBsonDocument event) {
    BsonPath.Located found = path.find(event);
    if (found == null) {
      throw new IllegalArgumentException("an event without " + path);
    }
    return found;
  }

  private static BsonValue value(BsonPath path, RawBsonDocument event) {
    return located(path, event).value();
  }

  /** The document after an insert or a replacement. */
  RawBsonDocument fullDocument() {
    return document(FULL);
  }

  /** What an update has changed. */
  RawBsonDocument updateDescription() {
    return document(DESCRIPTION);
  }

  private RawBsonDocument document(BsonPath path) {
    return Objects.requireNonNull(located(path, event).document());
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
