package dev.onehop.measure.delivery;

import dev.onehop.measure.frame.Parallel;
import dev.onehop.resync.Failure;
import dev.onehop.streams.Snapshot;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/**
 * A subscription to a query by one path. It reads the snapshot of one cluster time and opens a
 * stream at the next cluster time. Each change is therefore either in the snapshot or in the
 * stream. Events that arrive during the read are delivered after the documents. An instance
 * subscribes once. Not thread-safe.
 */
final class Subscription {

  private static final int BATCH = 1_000;
  private static final long POLL_MILLIS = 1;

  /**
   * The wait after the last row, in milliseconds. Rows that arrive again during this wait are still
   * counted.
   */
  static final long SETTLE_MILLIS = 200;

  private final StreamPath path;
  private final Query query;
  private final int firstSignals;
  private final ArrivalLog log;
  private @Nullable List<RawBsonDocument> waiting =
      new ArrayList<>(); // accessed only with this object locked
  private final CompletableFuture<EventStream> stream = new CompletableFuture<>();
  private long readMicros;
  private long liveMicros;
  private int signals;

  /**
   * The query of a subscription: the rows of a writer. Immutable.
   *
   * @param collection the rows, which the collection's client reads
   * @param events the request for the collection's events; its start is ignored
   * @param signals the rows whose arrival shows that earlier rows have arrived
   * @param writer the writer of the rows
   * @param whole whether no other writer writes rows of the run; the query is then the whole
   *     collection
   */
  record Query(
      RowCollection collection,
      StreamRequest events,
      Signals signals,
      RowWriter writer,
      boolean whole) {

    private BsonDocument filter(String key) {
      BsonDocument filter = new BsonDocument(key + ".run", new BsonInt32(signals.run()));
      return whole ? filter : filter.append(key + ".g", new BsonInt32(writer.group()));
    }
  }

  /**
   * Creates a subscription that has not started.
   *
   * @param number the number of this subscription among those to the query by this path, from 0;
   *     each number has separate signals
   */
  Subscription(StreamPath path, Query query, int number, ArrivalLog.Timing timing) {
    this.path = path;
    this.query = query;
    this.firstSignals = 2 * (number * StreamPath.TIMED.size() + StreamPath.TIMED.indexOf(path));
    this.log = new ArrivalLog(query.signals().run(), timing);
  }

  /**
   * Subscribes while the writers write, waits until all written rows have arrived, and ends the
   * subscriptions.
   *
   * @param writers the writers; they start some time before the subscriptions and stop some time
   *     after all subscriptions are live
   * @param rate the rows per second of each writer
   */
  static void run(
      List<Subscription> all,
      Collection<RowWriter> writers,
      double rate,
      long beforeMillis,
      long afterMillis)
      throws InterruptedException {
    try {
      for (RowWriter writer : writers) {
        writer.start(rate, Double.MAX_VALUE);
      }
      Thread.sleep(beforeMillis);
      Parallel.forEach(all, Subscription::subscribe);
      Thread.sleep(afterMillis);
      for (RowWriter writer : writers) {
        writer.stop();
      }
      Parallel.forEach(all, Subscription::awaitWritten);
      Thread.sleep(SETTLE_MILLIS);
    } finally {
      all.forEach(Subscription::close);
    }
  }

  /** Subscribes. Returns when all documents were delivered and all earlier writes have arrived. */
  private void subscribe() throws InterruptedException {
    long began = SteadyClock.micros();
    readDocuments();
    readMicros = SteadyClock.micros() - began;
    Parallel.await(stream);
    synchronized (this) {
      List<RawBsonDocument> before = waiting == null ? List.of() : waiting;
      before.forEach(event -> log.take(0, event));
      waiting = null;
    }
    awaitWritten();
    liveMicros = SteadyClock.micros() - began;
  }

  private void readDocuments() {
    RowCollection rows = query.collection();
    Iterable<RawBsonDocument> documents =
        Flux.from(
                Snapshot.read(
                    rows.reactiveClient(),
                    rows.reactiveRows(),
                    find -> find.filter(query.filter("_id")),
                    (time, read) -> {
                      open(time);
                      return read;
                    }))
            .toIterable(BATCH);
    for (RawBsonDocument document : documents) {
      Row row = Row.of(document);
      if (row != null && !row.isSignal()) {
        log.checker().snapshot(row.number(), row.version());
      }
    }
  }

  /** Opens the stream of this path while documents are read. */
  private void open(BsonTimestamp snapshot) {
    StreamRequest after =
        query
            .events()
            .matching(query.filter("documentKey._id"), Snapshot.next(snapshot).clusterTime());
    // A separate thread opens the stream: the opening waits for servers, and the common pool has
    // few threads.
    var unused =
        stream.completeAsync(
            () -> EventStream.open(path, after, (channel, event) -> take(event)),
            open -> new Thread(open, "stream-opener").start());
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
  private void awaitWritten() throws InterruptedException {
    long began = SteadyClock.micros();
    int set = firstSignals + signals++;
    Signals written = query.signals();
    written.write(query.collection().rows(), query.writer().group(), set, began, (last, row) -> {});
    List<Long> expected = written.numbers(set);
    while (log.signalled(expected).isEmpty()) {
      Thread.sleep(POLL_MILLIS);
      stream.join().check(path);
      if (written.areLate(began)) {
        throw Failure.run(
            "the change stream by path %s returned no event of a write for %d s"
                .formatted(path.label(), written.patience().toSeconds()),
            null);
      }
    }
  }

  private void close() {
    // If the read has failed, the stream may still be opening. It is then closed as soon as it is
    // open.
    var unused = stream.thenAccept(EventStream::close);
  }

  StreamPath path() {
    return path;
  }

  /** The check of the rows that have arrived, without a comparison with the written rows. */
  RowChecker checker() {
    return log.checker();
  }

  /**
   * Adds the faults to {@code findings}, and also the times if these count.
   *
   * @param live the name of the time until the subscription was live
   */
  void addTo(Findings findings, String live, boolean timed) {
    RowChecker.Verdict verdict = log.checker().verdict(query.writer().versions());
    findings.faults(verdict.lost(), verdict.doubled());
    if (timed) {
      findings.times(live).add(liveMicros);
      findings.times(Findings.SNAPSHOT).add(readMicros);
    }
  }

  /** The time until the subscription was live, in microseconds. */
  long liveMicros() {
    return liveMicros;
  }
}
