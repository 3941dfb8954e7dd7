package dev.onehop.measure.copying;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.Aggregates;
import dev.onehop.measure.frame.Background;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.bson.conversions.Bson;

/**
 * Measures lags. It reads the written documents from change streams of the destination's shards. A
 * lag is the time from the issue of a write at the source to the arrival of its event. An arrival
 * is final, because change streams return only majority-committed writes.
 */
final class LagWatch implements AutoCloseable {
  private static final long LONGEST_MICROS = 3_600_000_000L;

  /** A stage that reduces an event to the issue time of its write. */
  private static final Bson ISSUED =
      Aggregates.project(
          new Document(
              Workload.ISSUED,
              new Document(
                  "$ifNull",
                  List.of(
                      "$fullDocument." + Workload.ISSUED,
                      "$updateDescription.updatedFields." + Workload.ISSUED))));

  /** The time that a server waits for an event before it returns an empty batch. */
  private static final long AWAIT_MILLIS = 300;

  private final Background threads = new Background();
  private final List<MongoCursor<BsonDocument>> cursors = new ArrayList<>();
  private final Histogram micros = new ConcurrentHistogram(LONGEST_MICROS, 3);
  private volatile long from = Long.MAX_VALUE;
  private volatile long to = Long.MAX_VALUE;

  /**
   * Starts to watch.
   *
   * @param start a cluster time of the destination
   */
  LagWatch(CopyEnd destination, String database, String collection, BsonTimestamp start) {
    for (MongoClient shard : destination.shards().values()) {
      cursors.add(
          shard
              .getDatabase(database)
              .getCollection(collection)
              .watch(List.of(ISSUED))
              .startAtOperationTime(start)
              .maxAwaitTime(AWAIT_MILLIS, TimeUnit.MILLISECONDS)
              .withDocumentClass(BsonDocument.class)
              .iterator());
    }
    cursors.forEach(cursor -> threads.start("lag-watch", () -> watch(cursor)));
  }

  private void watch(MongoCursor<BsonDocument> cursor) {
    while (true) {
      // Calls isClosed() before it reads the batch. If the result is true and the batch is empty,
      // all writes from before the close have arrived.
      boolean last = threads.isClosed();
      BsonDocument event = cursor.tryNext();
      if (event == null && last) {
        return;
      }
      long now = Workload.micros();
      if (event != null && event.get(Workload.ISSUED) instanceof BsonInt64 issued) {
        long time = issued.getValue();
        if (time >= from && time < to) {
          micros.recordValue(Math.min(LONGEST_MICROS, Math.max(0, now - time)));
        }
      }
    }
  }

  /** Starts the measurement of writes that are issued from now on. */
  void begin() {
    from = Workload.micros();
  }

  /** Ends the measurement for writes that are issued from now on. */
  void end() {
    to = Workload.micros();
  }

  /** Returns the lags in microseconds. The caller must close the watch first. */
  Histogram lags() {
    threads.check();
    return micros;
  }

  /** Waits until all earlier writes have arrived, and ends the watch. */
  @Override
  public void close() {
    threads.close();
    cursors.forEach(MongoCursor::close);
  }
}
