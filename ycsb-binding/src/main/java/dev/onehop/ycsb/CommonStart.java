package dev.onehop.ycsb;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;

/**
 * Starts all clients of a run together, on one or several machines. Each client writes a document
 * to the cluster when it is ready, and waits until every client has written its document. The
 * starts differ by at most the time between two checks plus a round trip. No clocks are compared.
 *
 * <p>Used by one thread at a time.
 */
final class CommonStart {

  /** The collection is in the database of the run. */
  static final String COLLECTION = "onehop_start";

  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  /** A document stays for this time after the start, so that every other client sees it. */
  private static final Duration LEAST_STAY = Duration.ofSeconds(3);

  private final DocumentStore store;
  private final ClientShare share;
  private final Duration patience;
  private long startNanos;
  private long startMillis;
  private long startCpuNanos;

  CommonStart(DocumentStore store, ClientShare share) {
    this(store, share, PATIENCE);
  }

  CommonStart(DocumentStore store, ClientShare share, Duration patience) {
    this.store = store;
    this.share = share;
    this.patience = patience;
  }

  /**
   * Waits for all clients.
   *
   * @throws IllegalStateException if a client is not ready within ten minutes
   */
  void await() {
    var unused = store.upsert(COLLECTION, own(), own()).block();
    long end = System.nanoTime() + patience.toNanos();
    int ready;
    while ((ready = ready()) < share.of()) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            "only %d of %d clients were ready within %d s"
                .formatted(ready, share.of(), patience.toSeconds()));
      }
      sleep(BETWEEN_LOOKS.toNanos());
    }
    startNanos = System.nanoTime();
    startMillis = System.currentTimeMillis();
    startCpuNanos = cpuNanos();
  }

  private int ready() {
    BsonDocument all =
        new BsonDocument("$gte", new BsonString(share.run() + "#"))
            .append("$lt", new BsonString(share.run() + "$"));
    List<BsonDocument> found =
        store
            .findOrdered(
                COLLECTION,
                new BsonDocument("_id", all),
                new BsonDocument("_id", new BsonInt32(1)),
                share.of())
            .block();
    return Objects.requireNonNull(found).size();
  }

  private BsonDocument own() {
    return new BsonDocument("_id", new BsonString("%s#%05d".formatted(share.run(), share.index())));
  }

  /** The use of resources since the start. Must be called after this client's last operation. */
  RunSummary.Client client() {
    return new RunSummary.Client(
        share.index(), share.of(), startMillis, Math.max(0, cpuNanos() - startCpuNanos));
  }

  /** Removes this client's document, after every other client has seen it. */
  void leave() {
    sleep(LEAST_STAY.toNanos() - (System.nanoTime() - startNanos));
    var unused = store.delete(COLLECTION, own()).block();
  }

  private static long cpuNanos() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
        ? system.getProcessCpuTime()
        : 0;
  }

  private static void sleep(long nanos) {
    try {
      TimeUnit.NANOSECONDS.sleep(nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
