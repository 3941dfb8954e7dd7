package dev.onehop.ycsb;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.WriteModel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.bson.BsonDocument;

/** Collects inserts, and sends them in one bulk write. Confined to one thread. */
final class InsertBatch {
  private final DocumentStore store;
  private final int capacity;
  private final boolean upsert;
  private final List<WriteModel<BsonDocument>> pending = new ArrayList<>();
  private String collection = "";

  InsertBatch(DocumentStore store, int capacity, boolean upsert) {
    this.store = store;
    this.capacity = capacity;
    this.upsert = upsert;
  }

  /**
   * Adds a document, and sends the batch if it is full or for another collection.
   *
   * @return whether the batch is empty afterwards
   * @throws LostDocumentsException if documents were not written; they are no longer pending
   */
  boolean add(String target, BsonDocument document) {
    if (!collection.equals(target)) {
      flush();
      collection = target;
    }
    pending.add(
        upsert
            ? new ReplaceOneModel<>(
                new BsonDocument("_id", document.get("_id")), document, Documents.UPSERT)
            : new InsertOneModel<>(document));
    if (pending.size() < capacity) {
      return false;
    }
    flush();
    return true;
  }

  boolean isEmpty() {
    return pending.isEmpty();
  }

  /**
   * Sends the pending documents.
   *
   * @throws LostDocumentsException if documents were not written; they are no longer pending
   */
  void flush() {
    if (pending.isEmpty()) {
      return;
    }
    try {
      store.bulkWrite(collection, List.copyOf(pending)).block();
    } catch (MongoBulkWriteException e) {
      throw new LostDocumentsException(pending.size() - written(e.getWriteResult()), e);
    } catch (RuntimeException e) {
      throw new LostDocumentsException(pending.size(), e);
    } finally {
      pending.clear();
    }
  }

  private static int written(BulkWriteResult result) {
    return result.wasAcknowledged()
        ? result.getInsertedCount() + result.getMatchedCount() + result.getUpserts().size()
        : 0;
  }

  /** Some documents of a batch were not written. */
  static final class LostDocumentsException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final int documents;

    LostDocumentsException(int documents, RuntimeException cause) {
      super(cause);
      this.documents = documents;
    }

    /** The number of documents that were not written; 0 if only the write concern failed. */
    int documents() {
      return documents;
    }

    @Override
    public synchronized RuntimeException getCause() {
      return (RuntimeException) Objects.requireNonNull(super.getCause());
    }
  }
}
