package dev.onehop.measure.copying;

import com.mongodb.ErrorCategory;
import com.mongodb.MongoBulkWriteException;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.DeleteOneModel;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.ReplaceOptions;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.WriteModel;
import dev.onehop.measure.frame.Background;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;

/**
 * Applies the changes of a collection with the plain driver. It reads a change stream through one
 * mongos and distributes the events to queues by document. Each queue has a thread, which writes
 * unordered batches through one mongos. There is no checkpoint.
 */
final class SingleMongosApplier implements AutoCloseable {
  private static final int LANES = 16;
  private static final int WAITING = 2_000;
  private static final int BATCH = 500;

  /** The batch size of the change stream. */
  static final int EVENTS_AT_ONCE = 5_000;

  private static final BulkWriteOptions UNORDERED = new BulkWriteOptions().ordered(false);

  private final MongoCollection<RawBsonDocument> to;
  private final MongoCursor<RawBsonDocument> cursor;
  private final List<BlockingQueue<RawBsonDocument>> lanes = new ArrayList<>();
  private final AtomicLong applied = new AtomicLong();
  private final Background threads = new Background();

  /**
   * Starts to apply changes.
   *
   * @param cursor the cursor of the change stream; closed with this object
   */
  SingleMongosApplier(MongoCollection<RawBsonDocument> to, MongoCursor<RawBsonDocument> cursor) {
    this.to = to;
    this.cursor = cursor;
    for (int i = 0; i < LANES; i++) {
      BlockingQueue<RawBsonDocument> lane = new ArrayBlockingQueue<>(WAITING);
      lanes.add(lane);
      threads.start("lane-" + i, () -> write(lane));
    }
    threads.start("stream", this::read);
  }

  /** The number of applied events. */
  long applied() {
    threads.check();
    return applied.get();
  }

  private void read() throws InterruptedException {
    while (!threads.isClosed()) {
      RawBsonDocument event = cursor.tryNext(); // waits until the server replies
      if (event != null) {
        lanes.get(Math.floorMod(id(event).hashCode(), LANES)).put(event);
      }
    }
  }

  private static BsonValue id(BsonDocument event) {
    return Objects.requireNonNull(event.getDocument("documentKey").get("_id"));
  }

  private void write(BlockingQueue<RawBsonDocument> lane) throws InterruptedException {
    while (!threads.isClosed()) {
      writeBatch(lane);
    }
  }

  private void writeBatch(BlockingQueue<RawBsonDocument> lane) throws InterruptedException {
    List<RawBsonDocument> batch = new ArrayList<>();
    batch.add(lane.take());
    lane.drainTo(batch, BATCH - 1);
    // The driver sends a batch's inserts, then its updates, then its deletes. A shard executes the
    // writes of one document in the order in which they are sent. If the events of a document have
    // another order, such as an insert after a delete, the later event waits for the next batch.
    List<WriteModel<RawBsonDocument>> writes = new ArrayList<>();
    Map<BsonValue, Integer> kinds = new HashMap<>();
    for (RawBsonDocument event : batch) {
      WriteModel<RawBsonDocument> model = model(event);
      int kind = model instanceof InsertOneModel ? 0 : model instanceof DeleteOneModel ? 2 : 1;
      Integer before = kinds.put(id(event), kind);
      if (before != null && before > kind) {
        write(writes);
        writes.clear();
        kinds.clear();
        kinds.put(id(event), kind);
      }
      writes.add(model);
    }
    write(writes);
    applied.addAndGet(batch.size());
  }

  private static WriteModel<RawBsonDocument> model(RawBsonDocument event) {
    BsonDocument key = new BsonDocument("_id", id(event));
    String type = event.getString("operationType").getValue();
    return switch (type) {
      case "insert" -> new InsertOneModel<>((RawBsonDocument) event.getDocument("fullDocument"));
      case "replace" -> put(key, (RawBsonDocument) event.getDocument("fullDocument"));
      case "delete" -> new DeleteOneModel<>(key);
      case "update" -> update(key, event.getDocument("updateDescription"));
      default -> throw new IllegalStateException("an unsupported event: " + type);
    };
  }

  private static ReplaceOneModel<RawBsonDocument> put(BsonDocument key, RawBsonDocument document) {
    return new ReplaceOneModel<>(key, document, new ReplaceOptions().upsert(true));
  }

  private static WriteModel<RawBsonDocument> update(BsonDocument key, BsonDocument description) {
    BsonDocument change = new BsonDocument();
    BsonDocument set = description.getDocument("updatedFields");
    if (!set.isEmpty()) {
      change.append("$set", set);
    }
    BsonArray removed = description.getArray("removedFields");
    if (!removed.isEmpty()) {
      BsonDocument unset = new BsonDocument();
      removed.forEach(field -> unset.append(field.asString().getValue(), new BsonString("")));
      change.append("$unset", unset);
    }
    return new UpdateOneModel<>(key, change);
  }

  private void write(List<WriteModel<RawBsonDocument>> writes) {
    try {
      var unused = to.bulkWrite(writes, UNORDERED);
    } catch (MongoBulkWriteException e) {
      if (e.getWriteErrors().stream()
          .anyMatch(error -> error.getCategory() != ErrorCategory.DUPLICATE_KEY)) {
        throw e;
      }
      // Some inserts have failed, because their documents already exist. The whole batch is written
      // again, with replacements in place of inserts.
      List<WriteModel<RawBsonDocument>> again = new ArrayList<>();
      for (WriteModel<RawBsonDocument> write : writes) {
        again.add(
            write instanceof InsertOneModel<RawBsonDocument> insert
                ? put(
                    new BsonDocument("_id", insert.getDocument().get("_id")), insert.getDocument())
                : write);
      }
      var unused = to.bulkWrite(again);
    }
  }

  @Override
  public void close() {
    threads.interrupt();
    cursor.close();
  }
}
