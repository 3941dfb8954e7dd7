package dev.onehop.measure.delivery;

import dev.onehop.resync.Failure;
import dev.onehop.streams.Snapshot;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/**
 * A subscription to a query. It reads the snapshot of one cluster time and opens a stream at the
 * next cluster time. Each change is therefore either in the snapshot or in the stream. Events that
 * arrive during the read are delivered after the documents. Not thread-safe.
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
  private @Nullable List<RawBsonDocument> waiting =
      new ArrayList<>(); // accessed only with this object locked
  private volatile @Nullable CompletableFuture<EventStream> opening;
  private @Nullable EventStream stream;
  private long readMicros;
  private long liveMicros;
  private int signals;

  /**
   * The query of a subscription. Immutable.
   *
   * @param collection the rows, which the collection's client reads
   * @param events the request for the collection's events; its start is ignored
   * @param signals the rows whose arrival shows that earlier rows have arrived
   * @param group the group of the rows
   * @param whole whether all of the run's rows belong to the group; the query is then the whole
   *     collection
   * @param patience the time after which missing signals count as lost
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
   * Creates a subscription that has not started.
   *
   * @param firstSignals the number of the first of two sets of signals, which only this
   *     subscription uses
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

  /** Subscribes. Returns when all documents were delivered and all earlier writes have arrived. */
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
    RowCollection rows = query.collection();
    Iterable<RawBsonDocument> documents =
        Flux.from(
                Snapshot.read(
                    rows.reactiveClient(),
                    rows.reactiveRows(),
                    find -> find.filter(query.filter("_id")),
                    (time, read) -> {
                      opening = open(time);
                      return read;
                    }))
            .toIterable(BATCH);
    for (RawBsonDocument document : documents) {
      Row row = Row.of(document);
      if (row != null && !row.isSignal()) {
        log.checker().snapshot(row.number(), row.version());
      }
    }
    return Objects.requireNonNull(opening);
  }

  /** Opens the stream of this path while documents are read. */
  private CompletableFuture<EventStream> open(BsonTimestamp snapshot) {
    StreamRequest after =
        query
            .events()
            .matching(query.filter("documentKey._id"), Snapshot.next(snapshot).clusterTime());
    // A separate thread opens the stream: the opening waits for servers, and the common pool has
    // few threads.
    return CompletableFuture.supplyAsync(
        () -> EventStream.open(path, after, (channel, event) -> take(event)),
        open -> new Thread(open, "stream-opener").start());
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
   * Writes a signal on each shard, and waits until the signals have arrived. All earlier
   * acknowledged rows have then arrived or are lost.
   *
   * @throws Failure if the stream has failed, or returns no event for a long time
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
            "the change stream by path %s returned no event of a write for %d s"
                .formatted(path.label(), query.patience().toSeconds()),
            null);
      }
    }
  }

  RowChecker checker() {
    return log.checker();
  }

  /** The times of changes, from the time when the write was due until the delivery. */
  Samples sinceDue() {
    return sinceDue;
  }

  /** The times of changes, from the begin of the write until the delivery. */
  Samples sinceBegan() {
    return sinceBegan;
  }

  /** The time of reading the documents, in microseconds. */
  long readMicros() {
    return readMicros;
  }

  /** The time until the subscription was live, in microseconds. */
  long liveMicros() {
    return liveMicros;
  }

  @Override
  public void close() {
    CompletableFuture<EventStream> begun = opening;
    if (begun != null) {
      // If the read has failed, the stream may still be opening. It is then closed as soon as it is
      // open.
      var unused = begun.thenAccept(EventStream::close);
    }
  }
}
