package dev.onehop.measure.delivery;

import com.mongodb.MongoException;
import com.mongodb.bulk.BulkWriteResult;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.ReplaceOneModel;
import com.mongodb.client.model.WriteModel;
import dev.onehop.resync.Failure;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Writes rows: nine new ones, then a new version of one that was acknowledged before, and so on, in
 * unordered bulk writes of the official driver.
 */
final class RowWriter {

  private static final int THREADS = 2;

  /** Rows of a bulk write at full speed. */
  private static final int BATCH = 1_000;

  /** Bulk writes a second at a rate, if there are enough rows. */
  private static final int BATCHES_PER_SECOND = 100;

  private static final int NEW_VERSION_EVERY = 10;
  private static final int MOST_REMEMBERED = 10_000;

  private final MongoCollection<RawBsonDocument> collection;
  private final int run;
  private final HashRanges hashes;
  private final @Nullable Double rate;
  private final AtomicLong left;
  private final AtomicLong nextRow = new AtomicLong();
  private final AtomicLong acknowledged = new AtomicLong();
  private final RowVersions versions = new RowVersions();
  private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopped;

  private RowWriter(
      MongoCollection<RawBsonDocument> collection,
      int run,
      HashRanges hashes,
      @Nullable Double rate,
      long atMost) {
    this.collection = collection;
    this.run = run;
    this.hashes = hashes;
    this.rate = rate;
    this.left = new AtomicLong(atMost);
  }

  /**
   * Begins to write.
   *
   * @param run marks the rows
   * @param rate rows per second; null for as many as there can be
   * @param atMost after how many rows it ends by itself
   */
  static RowWriter start(
      MongoCollection<RawBsonDocument> collection,
      int run,
      HashRanges hashes,
      @Nullable Double rate,
      long atMost) {
    RowWriter writer = new RowWriter(collection, run, hashes, rate, atMost);
    // One thread keeps a rate; at full speed one prepares rows while the other waits.
    for (int i = 0; i < (rate == null ? THREADS : 1); i++) {
      Thread thread = new Thread(writer::writeUntilStopped, "row-writer-" + i);
      thread.setDaemon(true);
      writer.threads.add(thread);
    }
    writer.threads.forEach(Thread::start);
    return writer;
  }

  private void writeUntilStopped() {
    try {
      if (rate == null) {
        writeAtFullSpeed();
      } else {
        writeAt(rate);
      }
    } catch (MongoException e) {
      failure.compareAndSet(null, Failure.run("writing failed: " + Failure.firstLine(e), e));
    } catch (RuntimeException e) {
      failure.compareAndSet(null, e);
    } catch (InterruptedException e) {
      // Stopped.
    }
  }

  private void writeAtFullSpeed() {
    Lane lane = new Lane();
    int count;
    while (!stopped && (count = take(BATCH)) > 0) {
      lane.write(count);
    }
  }

  private void writeAt(double perSecond) throws InterruptedException {
    Lane lane = new Lane();
    long begun = System.nanoTime();
    long batches = 0;
    long issued = 0;
    double batchesPerSecond = Math.min(perSecond, BATCHES_PER_SECOND);
    while (!stopped) {
      long due = begun + (long) (batches * 1e9 / batchesPerSecond);
      TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
      batches++;
      long until = (long) (batches * perSecond / batchesPerSecond);
      int count = take((int) (until - issued));
      if (count == 0 && until > issued) {
        return;
      }
      issued = until;
      if (count > 0) {
        lane.write(count);
      }
    }
  }

  /** Takes up to so many of the rows that are left to write. */
  private int take(int wanted) {
    long before = left.getAndUpdate(now -> now - Math.min(now, wanted));
    return (int) Math.min(before, wanted);
  }

  /** Rows that were acknowledged so far, each version counted. */
  long acknowledged() {
    return acknowledged.get();
  }

  /** What was acknowledged; to be read when it has ended. */
  RowVersions versions() {
    return versions;
  }

  /** Whether it has ended by itself. */
  boolean hasEnded() {
    return threads.stream().noneMatch(Thread::isAlive);
  }

  /**
   * Fails if writing has.
   *
   * @throws Failure why
   */
  void check() {
    RuntimeException why = failure.get();
    if (why != null) {
      throw why;
    }
  }

  /**
   * Ends it after the rows that are under way.
   *
   * @throws Failure if writing has failed
   */
  void stop() throws InterruptedException {
    stopped = true;
    for (Thread thread : threads) {
      thread.join();
    }
    check();
  }

  /** Ends it without waiting. */
  void abandon() {
    stopped = true;
    threads.forEach(Thread::interrupt);
  }

  /** What one thread writes. */
  private final class Lane {
    private final Queue<Long> replaceable = new ArrayDeque<>();
    private long operations;

    void write(int count) {
      List<WriteModel<RawBsonDocument>> writes = new ArrayList<>(count);
      List<Long> inserted = new ArrayList<>(count);
      List<Long> replaced = new ArrayList<>();
      long issued = Clock.micros();
      for (int i = 0; i < count; i++) {
        Long known = ++operations % NEW_VERSION_EVERY == 0 ? replaceable.poll() : null;
        if (known == null) {
          long row = nextRow.getAndIncrement();
          inserted.add(row);
          writes.add(new InsertOneModel<>(new Row(run, row, 1, issued).document(hashes)));
        } else {
          replaced.add(known);
          RawBsonDocument document = new Row(run, known, 2, issued).document(hashes);
          writes.add(new ReplaceOneModel<>(Row.filter(document), document));
        }
      }
      BulkWriteResult result = collection.bulkWrite(writes, new BulkWriteOptions().ordered(false));
      if (result.getInsertedCount() != inserted.size()
          || result.getMatchedCount() != replaced.size()) {
        throw Failure.run(
            "of %d new rows %d were written, of %d new versions %d"
                .formatted(
                    inserted.size(),
                    result.getInsertedCount(),
                    replaced.size(),
                    result.getMatchedCount()),
            null);
      }
      inserted.forEach(row -> versions.add(row, 1));
      replaced.forEach(row -> versions.add(row, 2));
      acknowledged.addAndGet(count);
      if (replaceable.size() < MOST_REMEMBERED) {
        replaceable.addAll(inserted);
      }
    }
  }
}
