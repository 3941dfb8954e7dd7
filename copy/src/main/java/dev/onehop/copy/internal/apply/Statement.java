package dev.onehop.copy.internal.apply;

import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.streams.mirror.FieldUpdates;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;

/**
 * A write of one document of the destination.
 *
 * @param id the {@code _id} of the document
 * @param body the statement as an element of the command
 * @param kind the effect of the statement
 */
record Statement(BsonValue id, RawBsonDocument body, Kind kind) {
  private static final BsonDocumentCodec CODEC = new BsonDocumentCodec();

  enum Kind {
    /** Removes the document if it exists. */
    DELETE,
    /**
     * Removes all documents that match the filter, on any shard. The documents are read first to
     * get their shard keys.
     */
    SWEEP,
    /** Inserts a document. If it exists already, it is replaced. The body is the document. */
    INSERT,
    /** Replaces a document, or inserts it if it does not exist. */
    PUT,
    /** Changes an existing document. */
    UPDATE,
    /**
     * Changes an existing document in which the event's paths can only mean nested fields. If the
     * statement matches no document, a path such as {@code a.b} may mean a field whose name has a
     * dot.
     */
    GUARDED_UPDATE
  }

  /**
   * Creates an update or a put.
   *
   * @param simple whether strings of the filter are compared by their bytes, regardless of the
   *     collection's collation
   * @param update update operators, the stages of a pipeline, or the whole document
   */
  static Statement update(
      BsonValue id, BsonDocument filter, boolean simple, BsonValue update, Kind kind) {
    BsonDocument body = new BsonDocument("q", filter).append("u", update);
    if (kind == Kind.PUT) {
      body.append("upsert", BsonBoolean.TRUE);
    }
    return new Statement(id, raw(body, simple), kind);
  }

  /** Creates an update with the field changes of events. */
  static Statement update(BsonValue id, boolean simple, FieldUpdates.Update update) {
    return update(
        id,
        update.filter(),
        simple,
        update.update(),
        update.guarded() ? Kind.GUARDED_UPDATE : Kind.UPDATE);
  }

  /**
   * Creates a delete.
   *
   * @param kind {@code DELETE} if the filter has the shard key; otherwise {@code SWEEP}
   */
  static Statement delete(BsonValue id, BsonDocument filter, boolean simple, Kind kind) {
    return new Statement(
        id, raw(new BsonDocument("q", filter).append("limit", new BsonInt32(1)), simple), kind);
  }

  private static RawBsonDocument raw(BsonDocument body, boolean simple) {
    return new RawBsonDocument(
        simple ? body.append("collation", CollectionSpec.SIMPLE) : body, CODEC);
  }

  /** The whole document that is written. */
  BsonDocument document() {
    BsonValue put = body.get("u", body);
    return put.isArray()
        ? put.asArray().get(0).asDocument().getDocument("$replaceWith").getDocument("$literal")
        : put.asDocument();
  }

  int bytes() {
    return body.getByteBuffer().remaining();
  }

  boolean isDelete() {
    return kind == Kind.DELETE || kind == Kind.SWEEP;
  }

  boolean isUpdate() {
    return kind == Kind.UPDATE || kind == Kind.GUARDED_UPDATE;
  }
}
