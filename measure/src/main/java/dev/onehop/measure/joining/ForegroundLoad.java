package dev.onehop.measure.joining;

import com.mongodb.MongoException;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.onehop.measure.frame.Background;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Interruption;
import dev.onehop.resync.Member;
import dev.onehop.resync.Resync;
import dev.onehop.testbed.Watchdog;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;
import org.bson.Document;

/**
 * The load of applications while a member is added. One thread writes to the primary, and one
 * thread reads from the source. The latencies while the source is locked count separately.
 */
final class ForegroundLoad implements Resync.Listener, AutoCloseable {

  static final String DATABASE = "meanwhile";

  private static final long PAUSE_MILLIS = 5;

  /** The latencies of one kind of operation. */
  record Latencies(Histogram open, Histogram locked) {
    Latencies() {
      this(new Histogram(3), new Histogram(3));
    }
  }

  private final MongoCollection<Document> writes;
  private final MongoCollection<Document> reads;
  private final int first;
  private final AtomicInteger next;
  private final Background threads = new Background();
  private volatile boolean locked;

  /**
   * Starts the load.
   *
   * @param first the key of the first document to write
   * @param ofWrites receives the latencies of writes
   * @param ofReads receives the latencies of reads
   */
  ForegroundLoad(Member primary, Member source, int first, Latencies ofWrites, Latencies ofReads) {
    this.writes = collection(primary);
    this.reads = collection(source);
    this.first = first;
    this.next = new AtomicInteger(first);
    threads.start("meanwhile-writer", () -> repeat(this::write, ofWrites));
    threads.start("meanwhile-reader", () -> repeat(this::read, ofReads));
  }

  private static MongoCollection<Document> collection(Member member) {
    return member
        .client()
        .getDatabase(DATABASE)
        .withReadPreference(ReadPreference.nearest())
        .getCollection("writes");
  }

  private void repeat(Runnable operation, Latencies latencies) throws InterruptedException {
    while (!threads.isClosed()) {
      boolean before = locked;
      long begun = System.nanoTime();
      operation.run();
      long micros = (System.nanoTime() - begun) / 1_000;
      (before || locked ? latencies.locked : latencies.open).recordValue(micros);
      Thread.sleep(PAUSE_MILLIS);
    }
  }

  /** Writes one document. Only an acknowledged write counts. */
  private void write() {
    writes.insertOne(new Document("_id", next.get()).append("text", "x".repeat(200)));
    next.incrementAndGet();
  }

  private void read() {
    reads.find(Filters.eq("_id", first)).first();
  }

  @Override
  public void locking() {
    locked = true;
  }

  @Override
  public void unlocked() {
    locked = false;
  }

  /** Makes the new member's server end when this process ends. */
  @Override
  public void started(ProcessHandle server) {
    Watchdog.watch(server);
  }

  /** The key that follows the key of the last acknowledged document. */
  int next() {
    return next.get();
  }

  /** Returns the number of acknowledged documents that are missing on a member. */
  long lostOn(Member member) {
    long there =
        collection(member)
            .countDocuments(Filters.and(Filters.gte("_id", first), Filters.lt("_id", next.get())));
    return next.get() - first - there;
  }

  /**
   * Stops both threads.
   *
   * @throws Failure if one of the threads has failed
   */
  @Override
  public void close() {
    Interruption.suspend(threads::close);
    try {
      threads.check();
    } catch (MongoException e) {
      throw Failure.run("an operation of the foreground load failed: " + Failure.firstLine(e), e);
    }
  }
}
