package dev.onehop.ycsb;

import com.mongodb.client.result.DeleteResult;
import com.mongodb.client.result.UpdateResult;
import dev.onehop.ycsb.InsertBatch.LostDocumentsException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.Vector;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * What the bindings have in common: everything but the client.
 *
 * <p>Each operation has ended when its method returns. YCSB makes one instance per client thread
 * and uses it from that thread only.
 */
abstract class MongoBinding extends DB {
  private static final FailureLog FAILURES = new FailureLog(System.err);

  private final String mode;
  private final Tally tally = new Tally();
  private @Nullable SharedStore shared;
  private @Nullable InsertBatch batch;
  private boolean upsert;

  MongoBinding(String mode) {
    this.mode = mode;
  }

  /** Opens the client that all threads of this mode will share. */
  abstract DocumentStore open(BindingOptions options);

  @Override
  public void init() throws DBException {
    BindingOptions options;
    try {
      options = BindingOptions.of(getProperties());
    } catch (InvalidPropertyException e) {
      throw YcsbHost.initFailed(Failures.oneLine(e), e);
    }
    try {
      shared = SharedStore.acquire(mode, options, () -> open(options));
    } catch (RuntimeException e) {
      throw YcsbHost.initFailed(Failures.connecting(options, e), e);
    }
    upsert = options.upsert();
    batch =
        options.batchSize() > 1
            ? new InsertBatch(shared.store(), options.batchSize(), upsert)
            : null;
    if (!options.warmup().isZero()) {
      warmUp(options, shared);
    }
  }

  @Override
  public void cleanup() throws DBException {
    SharedStore leaving = shared;
    if (leaving == null) {
      return; // init() failed, or this is the second time
    }
    shared = null;
    try {
      flush();
    } finally {
      batch = null;
      release(leaving);
    }
  }

  @Override
  public Status read(
      String table, String key, @Nullable Set<String> fields, Map<String, ByteIterator> result) {
    return measured(
        "READ",
        () -> {
          BsonDocument found =
              store().findOne(table, Documents.withKey(key), Documents.projection(fields));
          if (found == null) {
            return Status.NOT_FOUND;
          }
          Documents.read(found, result);
          return Status.OK;
        });
  }

  @Override
  @SuppressWarnings("NonApiType") // YCSB's signature
  public Status scan(
      String table,
      String startKey,
      int recordCount,
      @Nullable Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return measured(
        "SCAN",
        () -> {
          List<BsonDocument> found =
              store()
                  .findOrdered(
                      table,
                      Documents.fromKey(startKey),
                      Documents.projection(fields),
                      recordCount);
          for (BsonDocument document : found) {
            HashMap<String, ByteIterator> row = new HashMap<>();
            Documents.read(document, row);
            result.add(row);
          }
          return Status.OK;
        });
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return measured(
        "UPDATE",
        () -> {
          UpdateResult updated =
              store().update(table, Documents.withKey(key), Documents.set(values));
          return !updated.wasAcknowledged() || updated.getMatchedCount() > 0
              ? Status.OK
              : Status.NOT_FOUND;
        });
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return measured(
        "INSERT",
        () -> {
          BsonDocument document = Documents.record(key, values);
          if (batch != null) {
            return batch.add(table, document) ? Status.OK : Status.BATCHED_OK;
          }
          if (upsert) {
            store().upsert(table, Documents.withKey(key), document);
          } else {
            store().insert(table, document);
          }
          return Status.OK;
        });
  }

  @Override
  public Status delete(String table, String key) {
    return measured(
        "DELETE",
        () -> {
          DeleteResult deleted = store().delete(table, Documents.withKey(key));
          return !deleted.wasAcknowledged() || deleted.getDeletedCount() > 0
              ? Status.OK
              : Status.NOT_FOUND;
        });
  }

  private Status measured(String operation, Supplier<Status> body) {
    long start = System.nanoTime();
    Status status;
    String why = "";
    try {
      status = body.get();
    } catch (LostDocumentsException e) {
      status = Statuses.of(e.getCause());
      why = Failures.oneLine(e.getCause());
      tally.lost(Math.max(0, e.documents() - 1)); // one is this operation's own
    } catch (RuntimeException e) {
      status = Statuses.of(e);
      why = Failures.oneLine(e);
    }
    tally.operation(start, System.nanoTime(), status.isOk());
    if (!status.isOk()) {
      FAILURES.failed(operation, status, why.isEmpty() ? status.getDescription() : why);
    }
    return status;
  }

  private void flush() throws DBException {
    if (batch == null || batch.isEmpty()) {
      return;
    }
    try {
      batch.flush();
    } catch (LostDocumentsException e) {
      tally.lost(Math.max(1, e.documents()));
      YcsbHost.cleanupFailed(
          "the last batch of inserts failed: " + Failures.oneLine(e.getCause()), e.getCause());
    } finally {
      tally.batchWritten(System.nanoTime());
    }
  }

  private void release(SharedStore leaving) throws DBException {
    try {
      leaving.release(tally);
    } catch (UncheckedIOException e) {
      YcsbHost.cleanupFailed(
          "cannot write the file of %s: %s".formatted(BindingOptions.SUMMARY, e.getCause()), e);
    }
  }

  private void warmUp(BindingOptions options, SharedStore joined) throws DBException {
    try {
      new Warmup(joined.store(), getProperties()).run(joined.warmupEndNanos(), tally);
    } catch (RuntimeException e) {
      shared = null;
      release(joined);
      throw YcsbHost.initFailed(Failures.connecting(options, e), e);
    }
  }

  private DocumentStore store() {
    return Objects.requireNonNull(shared, "init() was not called").store();
  }
}
