package dev.onehop.ycsb;

import dev.onehop.ycsb.InsertBatch.LostDocumentsException;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.Vector;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * The common code of all bindings: everything except the client.
 *
 * <p>When a method returns, its operation has ended. YCSB creates one instance for each client
 * thread, and uses the instance in this thread only.
 */
abstract class MongoBinding extends DB {
  static final FailureLog FAILURES = new FailureLog(System.err);

  private final String mode;
  private final Tally tally = new Tally();
  private @Nullable SharedStore shared;
  private @Nullable InsertBatch batch;
  private @Nullable Operations operations;

  MongoBinding(String mode) {
    this.mode = mode;
  }

  /** The binding's name. */
  String mode() {
    return mode;
  }

  /** Opens the client that all threads of this mode share. */
  abstract DocumentStore open(BindingOptions options);

  @Override
  public void init() throws DBException {
    BindingOptions options;
    ClientShare share;
    try {
      options = BindingOptions.of(getProperties());
      share = ClientShare.of(getProperties());
    } catch (InvalidPropertyException e) {
      throw YcsbHost.initFailed(Failures.oneLine(e), e);
    }
    try {
      shared = SharedStore.acquire(mode, options, () -> open(options));
    } catch (RuntimeException e) {
      throw YcsbHost.initFailed(Failures.connecting(options, e), e);
    }
    operations = new Operations(shared.store(), options.upsert());
    batch =
        options.batchSize() > 1
            ? new InsertBatch(shared.store(), options.batchSize(), options.upsert())
            : null;
    begin(options, shared, share);
  }

  @Override
  public void cleanup() throws DBException {
    SharedStore leaving = shared;
    if (leaving == null) {
      return; // init() has failed, or cleanup() is called again
    }
    shared = null;
    operations = null;
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
    return measured("READ", () -> operations().read(table, key, fields, result));
  }

  @Override
  @SuppressWarnings("NonApiType") // YCSB's signature
  public Status scan(
      String table,
      String startKey,
      int recordCount,
      @Nullable Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return measured("SCAN", () -> operations().scan(table, startKey, recordCount, fields, result));
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return measured("UPDATE", () -> operations().update(table, key, values));
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    InsertBatch filling = batch;
    return measured(
        "INSERT",
        filling == null
            ? () -> operations().insert(table, key, values)
            : () ->
                Mono.just(
                    filling.add(table, Documents.record(key, values))
                        ? Status.OK
                        : Status.BATCHED_OK));
  }

  @Override
  public Status delete(String table, String key) {
    return measured("DELETE", () -> operations().delete(table, key));
  }

  private Status measured(String operation, Supplier<Mono<Status>> body) {
    long start = System.nanoTime();
    Status status;
    String why = "";
    try {
      status = Objects.requireNonNull(body.get().block());
    } catch (LostDocumentsException e) {
      status = Statuses.of(e.getCause());
      why = Failures.oneLine(e.getCause());
      tally.lost(Math.max(0, e.documents() - 1)); // the status below counts one document
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
          "cannot write the file that %s names: %s".formatted(BindingOptions.SUMMARY, e.getCause()),
          e);
    }
  }

  private void begin(BindingOptions options, SharedStore joined, @Nullable ClientShare share)
      throws DBException {
    try {
      if (!options.warmup().isZero()) {
        new Warmup(joined.store(), getProperties()).run(joined.warmup(), tally);
      }
      joined.startTogether(share);
    } catch (RuntimeException e) {
      shared = null;
      release(joined);
      throw YcsbHost.initFailed(Failures.connecting(options, e), e);
    }
  }

  private Operations operations() {
    return Objects.requireNonNull(operations, "init() was not called");
  }
}
