package dev.onehop.measure.copying;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.InsertManyOptions;
import com.mongodb.client.model.InsertOneModel;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.Updates;
import com.mongodb.client.model.WriteModel;
import dev.onehop.measure.frame.Parallel;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import site.ycsb.generator.ScrambledZipfianGenerator;

/** Writes to the source. */
final class Workload {
  static final String DATABASE = "ycsb";

  /** The database of the signal documents. */
  static final String SIGNALS = "signals";

  /** The field with the issue time of an operation, in microseconds since 1970. */
  static final String ISSUED = "issued";

  private static final int THREADS = 4;
  private static final int BATCH = 1_000;
  private static final double INSERTS = 0.7;
  private static final int TICK_MILLIS = 10;
  private static final int ENDING_SECONDS = 30;

  private final MongoClient client;
  private final AtomicLong records = new AtomicLong();

  Workload(MongoClient client) {
    this.client = client;
  }

  static String collection(int number) {
    return "c" + number;
  }

  private MongoCollection<BsonDocument> target(int number) {
    return client
        .getDatabase(DATABASE)
        .getCollection(collection(number), BsonDocument.class)
        .withWriteConcern(WriteConcern.MAJORITY);
  }

  /** Writes new documents: the same number to each collection. */
  void load(int count, int collections) throws InterruptedException {
    records.set(count / collections);
    List<Range> batches = new ArrayList<>();
    for (int c = 0; c < collections; c++) {
      for (long first = 0; first < records.get(); first += BATCH) {
        batches.add(new Range(c, first, Math.min(records.get(), first + BATCH)));
      }
    }
    Parallel.forEach(THREADS, batches, this::insert);
  }

  private record Range(int collection, long from, long to) {}

  private void insert(Range range) {
    List<BsonDocument> documents =
        LongStream.range(range.from(), range.to()).mapToObj(YcsbDocuments::document).toList();
    var unused =
        target(range.collection()).insertMany(documents, new InsertManyOptions().ordered(false));
  }

  /** Writes to the first collection: 70 % inserts and 30 % updates. */
  void write(int operations) throws InterruptedException {
    List<Integer> batches = new ArrayList<>();
    for (int first = 0; first < operations; first += BATCH) {
      batches.add(Math.min(BATCH, operations - first));
    }
    Parallel.forEach(THREADS, batches, this::batch);
  }

  private void batch(int count) {
    // An update selects a record from before the batch, because every update must find its record.
    ScrambledZipfianGenerator zipfian = new ScrambledZipfianGenerator(known());
    List<WriteModel<BsonDocument>> writes = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      if (ThreadLocalRandom.current().nextDouble() < INSERTS) {
        writes.add(new InsertOneModel<>(issued(YcsbDocuments.document(records.getAndIncrement()))));
      } else {
        writes.add(update(zipfian.nextValue()));
      }
    }
    var unused = target(0).bulkWrite(writes, new BulkWriteOptions().ordered(false));
  }

  /**
   * Returns the number of records that exist for certain. Other threads may still write the last
   * records.
   */
  private long known() {
    return Math.max(1, records.get() - (long) THREADS * 2 * BATCH);
  }

  private static BsonDocument issued(BsonDocument document) {
    return document.append(ISSUED, new BsonInt64(micros()));
  }

  private static UpdateOneModel<BsonDocument> update(long record) {
    return new UpdateOneModel<>(
        Filters.eq("_id", YcsbDocuments.key(record)),
        Updates.combine(
            Updates.set(
                "field" + ThreadLocalRandom.current().nextInt(YcsbDocuments.FIELDS),
                YcsbDocuments.value()),
            Updates.set(ISSUED, new BsonInt64(micros()))));
  }

  /**
   * The present time in microseconds since 1970. All processes on this machine use the same clock.
   */
  static long micros() {
    Instant now = Instant.now();
    return TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + now.getNano() / 1_000;
  }

  /**
   * Writes inserts and updates at a rate, or more slowly if the servers are slower.
   *
   * @return the number of operations that were written
   */
  long write(int perSecond, Duration time) throws InterruptedException {
    ScheduledExecutorService threads = Executors.newScheduledThreadPool(THREADS);
    AtomicLong written = new AtomicLong();
    List<Future<?>> running = new ArrayList<>();
    int count = Math.max(1, perSecond * TICK_MILLIS / 1_000);
    long period = TimeUnit.SECONDS.toMicros(1) * count / perSecond * THREADS;
    for (int i = 0; i < THREADS; i++) {
      running.add(
          threads.scheduleAtFixedRate(
              () -> {
                batch(count);
                written.addAndGet(count);
              },
              period / THREADS * i,
              period,
              TimeUnit.MICROSECONDS));
    }
    Thread.sleep(time.toMillis());
    threads.shutdown();
    if (!threads.awaitTermination(ENDING_SECONDS, TimeUnit.SECONDS)) {
      threads.shutdownNow();
    }
    for (Future<?> each : running) {
      if (each.isDone() && !each.isCancelled()) {
        Parallel.await(each); // it has failed
      }
    }
    return written.get();
  }
}
