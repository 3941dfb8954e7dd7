package dev.onehop.measure.joining;

import com.mongodb.MongoException;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Member;
import dev.onehop.resync.Resync;
import dev.onehop.testbed.Watchdog;
import java.util.concurrent.atomic.AtomicInteger;
import org.HdrHistogram.Histogram;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * What applications do while a member is made: one writes on the primary, one reads on the source.
 * Their latencies are counted apart for the time that the source is locked.
 */
final class Meanwhile implements Resync.Listener, AutoCloseable {

  static final String DATABASE = "meanwhile";

  private static final long PAUSE_MILLIS = 5;

  /** One kind of operation. */
  static final class Latencies {
    private final Histogram open = new Histogram(3);
    private final Histogram locked = new Histogram(3);

    Histogram open() {
      return open;
    }

    Histogram locked() {
      return locked;
    }
  }

  private final MongoCollection<Document> writes;
  private final MongoCollection<Document> reads;
  private final int first;
  private final AtomicInteger next;
  private final Thread writer;
  private final Thread reader;
  private volatile boolean locked;
  private volatile boolean ended;
  private volatile @Nullable MongoException failure;

  /**
   * Starts.
   *
   * @param first the key of the first document that is written
   * @param ofWrites where the writes' latencies go
   * @param ofReads where the reads' go
   */
  Meanwhile(Member primary, Member source, int first, Latencies ofWrites, Latencies ofReads) {
    this.writes = primary.client().getDatabase(DATABASE).getCollection("writes");
    this.reads =
        source
            .client()
            .getDatabase(DATABASE)
            .withReadPreference(ReadPreference.nearest())
            .getCollection("writes");
    this.first = first;
    this.next = new AtomicInteger(first);
    this.writer = start("writer", this::write, ofWrites);
    this.reader = start("reader", this::read, ofReads);
  }

  private Thread start(String name, Runnable operation, Latencies latencies) {
    Thread thread = new Thread(() -> repeat(operation, latencies), "meanwhile-" + name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private void repeat(Runnable operation, Latencies latencies) {
    try {
      while (!ended) {
        boolean before = locked;
        long begun = System.nanoTime();
        operation.run();
        long micros = (System.nanoTime() - begun) / 1_000;
        (before || locked ? latencies.locked : latencies.open).recordValue(micros);
        Thread.sleep(PAUSE_MILLIS);
      }
    } catch (MongoException e) {
      failure = e;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Counts as written only what was acknowledged. */
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

  /** What is started for a measurement does not outlive it. */
  @Override
  public void started(ProcessHandle server) {
    Watchdog.watch(server);
  }

  /** The key after that of the last document that was acknowledged. */
  int next() {
    return next.get();
  }

  /** Documents that were acknowledged and that a member does not have. */
  long lostOn(Member member) {
    long there =
        member
            .client()
            .getDatabase(DATABASE)
            .withReadPreference(ReadPreference.nearest())
            .getCollection("writes")
            .countDocuments(Filters.and(Filters.gte("_id", first), Filters.lt("_id", next.get())));
    return next.get() - first - there;
  }

  /**
   * Ends both.
   *
   * @throws Failure if one of them has failed
   */
  @Override
  public void close() {
    ended = true;
    boolean interrupted = Thread.interrupted();
    try {
      writer.join();
      reader.join();
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    MongoException failed = failure;
    if (failed != null) {
      throw Failure.run("an operation meanwhile failed: " + Failure.firstLine(failed), failed);
    }
  }
}
