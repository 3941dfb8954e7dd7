package dev.onehop.measure.delivery;

import com.mongodb.MongoException;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.WriteModel;
import dev.onehop.measure.frame.Parallel;
import dev.onehop.resync.Failure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Writes rows in unordered bulk writes: new rows, and new versions of acknowledged rows. The writes
 * run on the caller's thread, or on the writer's own threads at a rate or at full speed.
 * Thread-safe.
 */
final class RowWriter implements AutoCloseable {

  /** The number of rows of a bulk write at full speed. */
  static final int BATCH = 1_000;

  private static final int THREADS = 2;
  private static final int MOST_REMEMBERED = 10_000;

  private final MongoCollection<RawBsonDocument> collection;
  private final Kind kind;
  private final HashRanges hashes;
  private final Lane callers = new Lane();
  private final AtomicLong nextRow = new AtomicLong();
  private final AtomicLong acknowledged = new AtomicLong();
  private final RowSet versions = new RowSet();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Future<?>> running =
      new ArrayList<>(); // used only by the thread that starts and stops this writer
  private BiConsumer<RawBsonDocument, Row> listener = (last, row) -> {};
  private volatile boolean stopped;

  /**
   * The kind of rows and writes. Immutable.
   *
   * @param run the number that marks the rows
   * @param group the group of the rows
   * @param bytes the size of a row in bytes
   * @param replaced the number of writes, out of {@code of}, that replace an acknowledged row; the
   *     other writes insert a row
   * @param of the number of writes to which {@code replaced} refers
   */
  record Kind(int run, int group, int bytes, int replaced, int of) {}

  /**
   * Creates a writer that has written nothing yet.
   *
   * @param collection the collection, with the write concern of the writes
   * @param hashes the hashes of the rows
   */
  RowWriter(MongoCollection<RawBsonDocument> collection, Kind kind, HashRanges hashes) {
    this.collection = collection;
    this.kind = kind;
    this.hashes = hashes;
  }

  /** Creates a writer that replaces a row in three of four writes. */
  static RowWriter changing(
      MongoCollection<RawBsonDocument> collection, int run, int group, int bytes) {
    return new RowWriter(collection, new Kind(run, group, bytes, 3, 4), HashRanges.all());
  }

  /**
   * Sets a listener for the start of each write. The listener receives the last document of the
   * write and the row of this document. The caller must set the listener before the first write.
   */
  void onWrite(BiConsumer<RawBsonDocument, Row> called) {
    listener = called;
  }

  /** Inserts rows at full speed on the caller's thread. */
  void insert(long rows) {
    for (long from = 0; from < rows; from += BATCH) {
      insert(kind.group(), (int) Math.min(BATCH, rows - from), null);
    }
  }

  /**
   * Inserts rows in one write on the caller's thread.
   *
   * @param group the group of these rows
   * @param dueMicros the time when the write was due; null if the write is due now
   */
  void insert(int group, int count, @Nullable Long dueMicros) {
    callers.write(group, count, dueMicros, false);
  }

  /**
   * Starts to write at full speed.
   *
   * @param atMost the number of rows after which the writer stops
   */
  void start(long atMost) {
    AtomicLong left = new AtomicLong(atMost);
    for (int i = 0; i < THREADS; i++) { // one thread prepares rows while the other waits
      Lane lane = new Lane();
      start(
          () -> {
            int count;
            while (!stopped && (count = (int) Math.min(BATCH, left.getAndAdd(-BATCH))) > 0) {
              lane.write(kind.group(), count, null, true);
            }
            return null;
          });
    }
  }

  /**
   * Starts to write at a rate, or continues after a stop.
   *
   * @param rows the number of rows per second
   * @param mostWrites the largest number of writes per second; the rows are distributed over these
   *     writes
   */
  void start(double rows, double mostWrites) {
    double writes = Math.min(rows, mostWrites);
    long begun = SteadyClock.micros();
    start(
        () -> {
          long issued = 0;
          for (long count = 0; !stopped; count++) {
            long due = SteadyClock.awaitDue(begun, count, writes);
            long until = (long) ((count + 1) * (rows / writes));
            if (until > issued) {
              callers.write(kind.group(), (int) (until - issued), due, true);
              issued = until;
            }
          }
          return null;
        });
  }

  private void start(Callable<@Nullable Void> work) {
    stopped = false;
    running.add(threads.submit(work));
  }

  /** The group of the rows. */
  int group() {
    return kind.group();
  }

  /** The number of acknowledged versions of rows so far. */
  long acknowledged() {
    return acknowledged.get();
  }

  /** The acknowledged versions. No write may run during the call. */
  RowSet versions() {
    return versions;
  }

  /**
   * Checks that no write has failed.
   *
   * @throws Failure with the reason of a failure
   */
  void check() throws InterruptedException {
    for (Future<?> each : running) {
      if (each.isDone()) {
        Parallel.await(each);
      }
    }
  }

  /**
   * Stops writing, and waits until the running writes have ended.
   *
   * @throws Failure if writing has failed
   */
  void stop() throws InterruptedException {
    stopped = true;
    for (Future<?> each : running) {
      Parallel.await(each);
    }
    running.clear();
  }

  /** Stops writing without waiting. */
  @Override
  public void close() {
    stopped = true;
    var unused = threads.shutdownNow();
  }

  /** Rows that are written by one thread at a time, so that their versions are written in order. */
  private final class Lane {
    private final Queue<Row> replaceable = new ArrayDeque<>();
    private long operations;

    void write(int group, int count, @Nullable Long dueMicros, boolean replaces) {
      long began = SteadyClock.micros();
      long due = dueMicros == null ? began : dueMicros;
      List<WriteModel<RawBsonDocument>> writes = new ArrayList<>(count);
      List<Row> rows = new ArrayList<>(count);
      int inserted = 0;
      for (int i = 0; i < count; i++) {
        boolean replace = operations++ % kind.of() >= kind.of() - kind.replaced();
        Row known = replaces && replace ? replaceable.poll() : null;
        Row row =
            known == null
                ? new Row(kind.run(), group, nextRow.getAndIncrement(), 1, due, began)
                : new Row(
                    kind.run(), known.group(), known.number(), known.version() + 1, due, began);
        RawBsonDocument document = row.document(hashes, kind.bytes());
        inserted += known == null ? 1 : 0;
        writes.add(
            known == null
                ? new InsertOneModel<>(document)
                : new ReplaceOneModel<>(Row.filter(document), document));
        rows.add(row);
        if (i == count - 1) {
          listener.accept(document, row);
        }
      }
      send(writes, inserted);
      for (Row row : rows) {
        var unused = versions.add(row.number(), row.version());
        if (row.version() < RowSet.MOST_VERSIONS && replaceable.size() < MOST_REMEMBERED) {
          replaceable.add(row);
        }
      }
      acknowledged.addAndGet(count);
    }
  }

  private void send(List<WriteModel<RawBsonDocument>> writes, int inserted) {
    int replaced = writes.size() - inserted;
    try {
      BulkWriteResult result = collection.bulkWrite(writes, new BulkWriteOptions().ordered(false));
      if (result.getInsertedCount() != inserted || result.getMatchedCount() != replaced) {
        throw Failure.run(
            "of %d new rows, %d were written, and of %d new versions, %d were written"
                .formatted(inserted, result.getInsertedCount(), replaced, result.getMatchedCount()),
            null);
      }
    } catch (MongoException e) {
      throw Failure.run("writing failed: " + Failure.firstLine(e), e);
    }
  }
}
