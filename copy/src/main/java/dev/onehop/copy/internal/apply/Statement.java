package dev.onehop.copy.internal.apply;

import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;

/**
 * A write of one document of the destination.
 *
 * @param id the {@code _id} of the document
 * @param body the statement as an element of the command
 * @param kind the effect of the statement
 */
record Statement(BsonValue id, RawBsonDocument body, Kind kind) {
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
    UPDATE
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
}
