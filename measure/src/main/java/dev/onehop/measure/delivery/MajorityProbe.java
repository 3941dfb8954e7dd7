package dev.onehop.measure.delivery;

import com.mongodb.ReadConcern;
import com.mongodb.client.MongoCollection;
import dev.onehop.measure.frame.Parallel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.bson.RawBsonDocument;

/**
 * Measures the time until a program can read a write with read concern majority. From the start of
 * a write, the probe reads again and again until it finds the last document of the write. A
 * measured time is therefore too long by up to one read. The probe follows one write at a time.
 * When it is idle, it follows the next write that begins.
 */
final class MajorityProbe implements AutoCloseable {

  private final MongoCollection<RawBsonDocument> collection;
  private final Findings findings = Findings.of(Findings.LATENCY, Findings.SERVICE);
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private Future<?> reading =
      CompletableFuture.completedFuture(null); // only the writing thread uses it
  private volatile boolean closed;

  /** Creates an idle probe. */
  MajorityProbe(MongoCollection<RawBsonDocument> collection) {
    this.collection = collection.withReadConcern(ReadConcern.MAJORITY);
  }

  /** The times of writes, without the writes of the first test. */
  Findings findings() {
    return findings;
  }

  /** Starts to follow a write with this last document, if the probe is idle. */
  void begins(RawBsonDocument last, Row row) {
    if (reading.isDone()) {
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
      findings.arrived(row, seen);
    }
  }

  /**
   * Checks that no read has failed.
   *
   * @throws dev.onehop.resync.Failure with the reason of a failure
   */
  void check() throws InterruptedException {
    if (reading.isDone()) {
      Parallel.await(reading);
    }
  }

  @Override
  public void close() {
    closed = true;
    var unused = thread.shutdownNow();
  }
}
