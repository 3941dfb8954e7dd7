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
 * @param id of the document
 * @param body as a statement of the command
 * @param kind its effect
 */
record Statement(BsonValue id, RawBsonDocument body, Kind kind) {
  enum Kind {
    /** Removes the document if there is one. */
    DELETE,
    /** Removes all documents that match, on any shard. They have to be found first. */
    SWEEP,
    /** Inserts a document, or replaces an existing one. The body is the document. */
    INSERT,
    /** Writes a whole document. */
    PUT,
    /** Changes an existing document. */
    UPDATE,
    /**
     * Changes a document if the event's paths mean nested fields in it. If it matches none, they
     * may mean fields whose names have dots.
     */
    GUARDED_UPDATE
  }

  /**
   * An update or a put.
   *
   * @param simple whether strings of the filter are compared by their bytes, regardless of the
   *     collection's collation
   * @param update operators, the stages of a pipeline, or the whole document
   */
  static Statement update(
      BsonValue id, BsonDocument filter, boolean simple, BsonValue update, Kind kind) {
    BsonDocument body = new BsonDocument("q", filter).append("u", update);
    if (kind == Kind.PUT) {
      body.append("upsert", BsonBoolean.TRUE);
    }
    return new Statement(id, raw(body, simple), kind);
  }

  /** An update with the field changes of events. */
  static Statement update(BsonValue id, boolean simple, FieldUpdates.Update update) {
    return update(
        id,
        update.filter(),
        simple,
        update.update(),
        update.guarded() ? Kind.GUARDED_UPDATE : Kind.UPDATE);
  }

  /**
   * Removes documents.
   *
   * @param kind {@code DELETE} if the filter has the shard key
   */
  static Statement delete(BsonValue id, BsonDocument filter, boolean simple, Kind kind) {
    return new Statement(
        id, raw(new BsonDocument("q", filter).append("limit", new BsonInt32(1)), simple), kind);
  }

  private static RawBsonDocument raw(BsonDocument body, boolean simple) {
    return new RawBsonDocument(
        simple ? body.append("collation", CollectionSpec.SIMPLE) : body, new BsonDocumentCodec());
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
