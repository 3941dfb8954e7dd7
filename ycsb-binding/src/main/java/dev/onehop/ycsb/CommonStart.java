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
 * Lets all clients of a run begin together, on whatever machines they are: each writes a document
 * to the cluster when it is ready, and waits until there is one of every client. No clocks are
 * compared; the clients begin within the time between two looks and a round trip of each other.
 *
 * <p>For one thread at a time.
 */
final class CommonStart {

  /** In the database of the run's own collection. */
  static final String COLLECTION = "onehop_start";

  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);
  private static final Duration PATIENCE = Duration.ofMinutes(10);

  /** The documents stay until every client has surely looked again. */
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
   * @throws IllegalStateException if they are not ready within ten minutes
   */
  void await() {
    var unused = store.upsert(COLLECTION, own(), own()).block();
    long end = System.nanoTime() + patience.toNanos();
    int ready;
    while ((ready = ready()) < share.of()) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException(
            "%d of %d clients were ready within %d s"
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

  /** What this client has used since the start. To be asked for when its last operation ended. */
  RunSummary.Client client() {
    return new RunSummary.Client(
        share.index(), share.of(), startMillis, Math.max(0, cpuNanos() - startCpuNanos));
  }

  /** Removes this client's document, not before every other client has seen it. */
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
