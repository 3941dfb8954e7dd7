package dev.onehop.copy.internal.apply;

import com.mongodb.client.model.WriteModel;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;

/**
 * A write of one document of the destination.
 *
 * @param id of the document
 * @param model what is written
 * @param kind what is expected of it
 */
record Statement(BsonValue id, WriteModel<RawBsonDocument> model, Kind kind) {
  enum Kind {
    /** Removes what there is. */
    DELETE,
    /** Puts a whole document there. */
    PUT,
    /** Changes a document that is there. */
    UPDATE,
    /**
     * Changes a document if the event's paths mean nested fields in it. If it matches none, they
     * may mean fields whose names have dots.
     */
    GUARDED_UPDATE
  }

  boolean isUpdate() {
    return kind == Kind.UPDATE || kind == Kind.GUARDED_UPDATE;
  }
}
