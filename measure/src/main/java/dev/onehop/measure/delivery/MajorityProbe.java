package dev.onehop.measure.delivery;

import com.mongodb.ReadConcern;
import com.mongodb.client.MongoCollection;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Another program that reads with read concern majority: asks for the last document of a write
 * again and again from when the write begins, until it is there. So a time is up to one read too
 * long. It follows one write at a time, and takes the next that begins when it is free.
 */
final class MajorityProbe implements AutoCloseable {

  private final MongoCollection<RawBsonDocument> collection;
  private final Findings findings;
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private @Nullable Future<?> reading; // of the thread that writes
  private volatile boolean closed;

  /**
   * A probe that is free.
   *
   * @param findings get the times of writes, but for those of the first test
   */
  MajorityProbe(MongoCollection<RawBsonDocument> collection, Findings findings) {
    this.collection = collection.withReadConcern(ReadConcern.MAJORITY);
    this.findings = findings;
  }

  /** A write begins, whose last document this is. */
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
   * Fails if reading has.
   *
   * @throws dev.onehop.resync.Failure why
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
