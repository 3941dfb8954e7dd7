package dev.onehop.measure.delivery;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCursor;
import dev.onehop.resync.Failure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * A subscription to a query: reads the query as of one cluster time, and opens a stream at the next
 * one. So each change is in the snapshot or in the stream, and not in both. Events that come while
 * documents are still being read are handed over after them. Used by one thread at a time.
 */
final class Subscription implements AutoCloseable {

  private static final int BATCH = 1_000;
  private static final long POLL_MILLIS = 1;

  private final StreamPath path;
  private final Query query;
  private final int firstSignals;
  private final Samples sinceDue = new Samples();
  private final Samples sinceBegan = new Samples();
  private final ArrivalLog log;
  private @Nullable List<RawBsonDocument> waiting = new ArrayList<>(); // guarded by this
  private @Nullable CompletableFuture<EventStream> opening;
  private @Nullable EventStream stream;
  private long readMicros;
  private long liveMicros;
  private int signals;

  /**
   * What is subscribed to. Immutable.
   *
   * @param collection of the rows; its client reads them
   * @param events of the collection; their start is not used
   * @param signals that are written to know what has come
   * @param group of the rows
   * @param whole whether all of the run's rows are of the group, so that the query is the whole
   *     collection
   * @param patience if signals have not come after so long, they will not come
   */
  record Query(
      RowCollection collection,
      StreamRequest events,
      Signals signals,
      int group,
      boolean whole,
      Duration patience) {

    private BsonDocument filter(String key) {
      BsonDocument filter = new BsonDocument(key + ".run", new BsonInt32(signals.run()));
      return whole ? filter : filter.append(key + ".g", new BsonInt32(group));
    }
  }

  /**
   * A subscription that has not begun.
   *
   * @param firstSignals the first of two sets of signals that are this subscription's own
   */
  Subscription(StreamPath path, Query query, int firstSignals) {
    this.path = path;
    this.query = query;
    this.firstSignals = firstSignals;
    this.log =
        new ArrivalLog(
            query.signals().run(),
            false,
            channel -> true,
            (channel, row, event, seen) -> {
              sinceDue.add(seen - row.dueMicros());
              sinceBegan.add(seen - row.beganMicros());
            });
  }

  /**
   * Subscribes: returns when all documents were handed over, and what was written by then has come,
   * too.
   */
  void subscribe() throws InterruptedException {
    long began = SteadyClock.micros();
    CompletableFuture<EventStream> opened = readDocuments();
    readMicros = SteadyClock.micros() - began;
    stream = opened(opened);
    synchronized (this) {
      List<RawBsonDocument> before = waiting == null ? List.of() : waiting;
      before.forEach(event -> log.take(0, event));
      waiting = null;
    }
    awaitWritten();
    liveMicros = SteadyClock.micros() - began;
  }

  private CompletableFuture<EventStream> readDocuments() {
    ClientSessionOptions snapshot = ClientSessionOptions.builder().snapshot(true).build();
    try (ClientSession session = query.collection().client().startSession(snapshot);
        MongoCursor<RawBsonDocument> documents =
            query
                .collection()
                .rows()
                .find(session, query.filter("_id"))
                .batchSize(BATCH)
                .cursor()) {
      BsonTimestamp time = session.getSnapshotTimestamp();
      if (time == null) {
        throw Failure.run("the snapshot read returned no atClusterTime", null);
      }
      // Each path opens its stream in another way, while documents are read.
      StreamRequest after =
          query
              .events()
              .matching(
                  query.filter("documentKey._id"),
                  new BsonTimestamp(time.getTime(), time.getInc() + 1));
      // On a thread of its own: the common ones are few, and opening waits for servers.
      CompletableFuture<EventStream> opened =
          CompletableFuture.supplyAsync(
              () -> EventStream.open(path, after, (channel, event) -> take(event)),
              open -> new Thread(open, "stream-opener").start());
      opening = opened;
      while (documents.hasNext()) {
        Row row = Row.of(documents.next());
        if (row != null && !row.isSignal()) {
          log.checker().snapshot(row.number(), row.version());
        }
      }
      return opened;
    }
  }

  private static EventStream opened(CompletableFuture<EventStream> opening) {
    try {
      return opening.join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException why ? why : e;
    }
  }

  private void take(RawBsonDocument event) {
    synchronized (this) {
      if (waiting != null) {
        waiting.add(event);
        return;
      }
    }
    log.take(0, event);
  }

  /**
   * Writes a signal on each shard, and waits until they have come; so what was acknowledged before
   * has come, too. What was lost did not.
   *
   * @throws Failure if the stream has failed, or gives no event for long
   */
  void awaitWritten() throws InterruptedException {
    long began = SteadyClock.micros();
    int set = firstSignals + signals++;
    query.signals().write(query.collection().rows(), query.group(), set, began, (last, row) -> {});
    List<Long> expected = query.signals().numbers(set);
    while (log.signalled(expected).isEmpty()) {
      Thread.sleep(POLL_MILLIS);
      if (stream != null) {
        stream.check(path);
      }
      if (SteadyClock.micros() - began > query.patience().toMillis() * 1_000) {
        throw Failure.run(
            "the change stream by path %s gave no event of a write for %d s"
                .formatted(path.label(), query.patience().toSeconds()),
            null);
      }
    }
  }

  RowChecker checker() {
    return log.checker();
  }

  /** Times of changes from when they were meant to begin until they were handed over. */
  Samples sinceDue() {
    return sinceDue;
  }

  /** The same from when they began. */
  Samples sinceBegan() {
    return sinceBegan;
  }

  /** How long it took to read the documents. */
  long readMicros() {
    return readMicros;
  }

  /** How long it took to be live. */
  long liveMicros() {
    return liveMicros;
  }

  @Override
  public void close() {
    if (opening != null) {
      var unused = opening.thenAccept(EventStream::close); // Reading may have failed before.
    }
  }
}
