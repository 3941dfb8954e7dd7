package dev.onehop.measure.copying;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.InsertManyOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.bson.RawBsonDocument;

/**
 * Copies documents with the plain driver: one cursor for each collection, and several writers with
 * unordered batches, all through one mongos on each side. The documents stay encoded.
 */
final class SingleMongosReader {
  static final int WRITERS = 8;
  private static final int BATCH = 1_000;
  private static final InsertManyOptions UNORDERED =
      new InsertManyOptions().ordered(false).bypassDocumentValidation(true);

  private final MongoClient source;
  private final MongoClient destination;
  private final List<Future<Void>> writing = Collections.synchronizedList(new ArrayList<>());

  /** A reader waits while the queue is full. */
  private final ThreadPoolExecutor writers =
      new ThreadPoolExecutor(
          WRITERS,
          WRITERS,
          0,
          TimeUnit.SECONDS,
          new ArrayBlockingQueue<>(2 * WRITERS),
          (batch, pool) -> {
            try {
              pool.getQueue().put(batch);
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });

  SingleMongosReader(MongoClient source, MongoClient destination) {
    this.source = source;
    this.destination = destination;
  }

  /** Copies collections of a database to collections with the same names. */
  void run(String from, String to, List<String> collections)
      throws InterruptedException, ExecutionException {
    ExecutorService readers = Executors.newFixedThreadPool(collections.size());
    try {
      List<Callable<Void>> reading = new ArrayList<>();
      collections.forEach(
          name ->
              reading.add(
                  () ->
                      read(
                          source.getDatabase(from).getCollection(name, RawBsonDocument.class),
                          destination
                              .getDatabase(to)
                              .getCollection(name, RawBsonDocument.class)
                              .withWriteConcern(WriteConcern.MAJORITY))));
      for (Future<Void> reader : readers.invokeAll(reading)) {
        reader.get();
      }
      for (Future<Void> batch : writing) {
        batch.get();
      }
    } finally {
      readers.shutdownNow();
      writers.shutdownNow();
    }
  }

  private Void read(MongoCollection<RawBsonDocument> from, MongoCollection<RawBsonDocument> to) {
    List<RawBsonDocument> batch = new ArrayList<>();
    try (MongoCursor<RawBsonDocument> cursor = from.find().batchSize(BATCH).iterator()) {
      while (cursor.hasNext()) {
        batch.add(cursor.next());
        if (batch.size() == BATCH || !cursor.hasNext()) {
          List<RawBsonDocument> full = batch;
          writing.add(writers.submit(() -> write(to, full)));
          batch = new ArrayList<>();
        }
      }
    }
    return null;
  }

  private static Void write(MongoCollection<RawBsonDocument> to, List<RawBsonDocument> batch) {
    var unused = to.insertMany(batch, UNORDERED);
    return null;
  }
}
