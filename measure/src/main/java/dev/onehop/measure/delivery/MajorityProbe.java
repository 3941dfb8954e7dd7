package dev.onehop.measure.delivery;

import com.mongodb.ReadConcern;
import com.mongodb.client.MongoCollection;
import dev.onehop.measure.frame.Parallel;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Another program that reads with read concern majority. It reads the last document of a write
 * again and again from the start of the write until the document is found. So a time is too long by
 * up to one read. It follows one write at a time; when it is idle it follows the next write that
 * begins.
 */
final class MajorityProbe implements AutoCloseable {

  private final MongoCollection<RawBsonDocument> collection;
  private final Findings findings;
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private @Nullable Future<?> reading; // used by the writing thread only
  private volatile boolean closed;

  /**
   * Creates an idle probe.
   *
   * @param findings gets the times of writes, except of the first test
   */
  MajorityProbe(MongoCollection<RawBsonDocument> collection, Findings findings) {
    this.collection = collection.withReadConcern(ReadConcern.MAJORITY);
    this.findings = findings;
  }

  /** Starts to follow a write with this last document, if the probe is idle. */
  void begins(RawBsonDocument last, Row row) {
    if (reading == null || reading.isDone()) {
      reading = thread.submit(() -> read(last, row));
    }
  }

  private void read(RawBsonDocument document, Row row) {
    while (collection.find(Row.filter(document)).first() == null) {
      if (closed) {
        return;
      }
    }
    long seen = SteadyClock.micros();
    if (row.group() > 0) {
      findings.times(Findings.LATENCY).add(seen - row.dueMicros());
      findings.times(Findings.SERVICE).add(seen - row.beganMicros());
    }
  }

  /**
   * Checks that no read has failed.
   *
   * @throws dev.onehop.resync.Failure with the reason of a failure
   */
  void check() throws InterruptedException {
    if (reading != null && reading.isDone()) {
      Parallel.await(reading);
    }
  }

  @Override
  public void close() {
    closed = true;
    var unused = thread.shutdownNow();
  }
}
