package dev.onehop.copy.internal.apply;

import com.mongodb.MongoNamespace;
import dev.onehop.copy.progress.CopyOperation;
import dev.onehop.core.bson.BsonPath.Located;
import dev.onehop.core.bson.FieldSet;
import dev.onehop.core.bson.RawFields;
import java.util.Objects;
import java.util.Set;
import org.bson.BsonBinary;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.jspecify.annotations.Nullable;

/**
 * An event of a document, as a server has sent it.
 *
 * @param type the event's {@code operationType}
 * @param namespace the collection at the source
 * @param uuid the UUID of the collection; null if the server reports no UUID
 * @param time the event's cluster time
 * @param key the event's {@code documentKey}
 * @param document the identity of the document; documents of another collection with the same name
 *     have other identities
 * @param full the event's {@code fullDocument}; null if there is none
 * @param description the event's {@code updateDescription}; null if there is none
 */
record DocumentEvent(
    String type,
    MongoNamespace namespace,
    @Nullable BsonBinary uuid,
    BsonTimestamp time,
    BsonDocument key,
    Lane.Document document,
    @Nullable Located full,
    @Nullable Located description) {
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();
  private static final FieldSet FIELDS =
      FieldSet.of(
          "documentKey",
          "ns",
          "operationType",
          "clusterTime",
          "collectionUUID",
          "fullDocument",
          "updateDescription");

  /** Reads an event; null if the event does not concern one document. */
  static @Nullable DocumentEvent of(RawBsonDocument event) {
    return new Reader().read(event);
  }

  /**
   * Reads events. Consecutive events of a collection use the same object for its name, to save
   * time. Not thread-safe.
   */
  static final class Reader {
    private @Nullable RawBsonDocument name;
    private @Nullable MongoNamespace namespace;
    private @Nullable BsonBinary uuid;

    /** Reads an event; null if the event does not concern one document. */
    @Nullable DocumentEvent read(RawBsonDocument event) {
      @Nullable Located[] fields = FIELDS.find(event);
      RawBsonDocument documentKey = fields[0] == null ? null : fields[0].document();
      if (documentKey == null) {
        return null;
      }
      MongoNamespace of = namespace(document(fields[1], "ns"));
      BsonBinary its = uuid(fields[4]);
      BsonDocument key = RawFields.without(Set.of(), documentKey);
      return new DocumentEvent(
          required(fields[2], "operationType").value().asString().getValue(),
          of,
          its,
          required(fields[3], "clusterTime").value().asTimestamp(),
          key,
          new Lane.Document(its == null ? of : its, Target.key(Target.id(key))),
          fields[5],
          fields[6]);
    }

    private MongoNamespace namespace(RawBsonDocument read) {
      MongoNamespace known = namespace;
      if (known != null
          && name != null
          && name.getByteBuffer().asNIO().equals(read.getByteBuffer().asNIO())) {
        return known;
      }
      MongoNamespace other =
          new MongoNamespace(read.getString("db").getValue(), read.getString("coll").getValue());
      name = read;
      namespace = other;
      return other;
    }

    private @Nullable BsonBinary uuid(@Nullable Located read) {
      if (read == null || read.type() != BsonType.BINARY) {
        return null;
      }
      BsonBinary other = read.value().asBinary();
      if (!other.equals(uuid)) {
        uuid = other;
      }
      return uuid;
    }
  }

  private static Located required(@Nullable Located found, String name) {
    if (found == null) {
      throw new IllegalArgumentException("an event without " + name);
    }
    return found;
  }

  private static RawBsonDocument document(@Nullable Located found, String name) {
    return Objects.requireNonNull(required(found, name).document(), name);
  }

  /** The document after an insert or a replacement. */
  RawBsonDocument fullDocument() {
    return document(full, "fullDocument");
  }

  /** The changes of an update. */
  BsonDocument updateDescription() {
    return document(description, "updateDescription").decode(CODEC);
  }

  BsonValue id() {
    return Target.id(key);
  }

  /** The kind of the change; null if the {@code operationType} is unknown. */
  @Nullable CopyOperation operation() {
    return switch (type) {
      case "insert" -> CopyOperation.INSERT;
      case "update", "replace" -> CopyOperation.UPDATE;
      case "delete" -> CopyOperation.DELETE;
      default -> null;
    };
  }
}
