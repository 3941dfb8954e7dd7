package dev.onehop.measure.copying;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.InsertManyOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.bson.RawBsonDocument;

/**
 * Copies as MongoShake does where the balancer is on: one cursor for each collection, all by way of
 * one router, and several writers by way of one router, with unordered batches. Documents stay
 * bytes on their way.
 */
final class SingleMongosReader {
  static final int WRITERS = 8;
  private static final int BATCH = 1_000;
  private static final List<RawBsonDocument> END = List.of();
  private static final InsertManyOptions UNORDERED =
      new InsertManyOptions().ordered(false).bypassDocumentValidation(true);

  private record Batch(String collection, List<RawBsonDocument> documents) {}

  private final MongoClient source;
  private final MongoClient destination;
  private final BlockingQueue<Batch> batches = new ArrayBlockingQueue<>(2 * WRITERS);

  SingleMongosReader(MongoClient source, MongoClient destination) {
    this.source = source;
    this.destination = destination;
  }

  /** Copies collections of a database to those of the same names. */
  void run(String from, String to, List<String> collections)
      throws InterruptedException, ExecutionException {
    ExecutorService readers = Executors.newFixedThreadPool(collections.size());
    ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
    try {
      List<Future<Void>> writing = new ArrayList<>();
      for (int i = 0; i < WRITERS; i++) {
        writing.add(writers.submit(() -> write(to)));
      }
      List<Callable<Void>> reading = new ArrayList<>();
      collections.forEach(collection -> reading.add(() -> read(from, collection)));
      for (Future<Void> reader : readers.invokeAll(reading)) {
        reader.get();
      }
      for (int i = 0; i < WRITERS; i++) {
        batches.put(new Batch("", END));
      }
      for (Future<Void> writer : writing) {
        writer.get();
      }
    } finally {
      readers.shutdownNow();
      writers.shutdownNow();
    }
  }

  private Void read(String database, String name) throws InterruptedException {
    MongoCollection<RawBsonDocument> collection =
        source.getDatabase(database).getCollection(name, RawBsonDocument.class);
    List<RawBsonDocument> batch = new ArrayList<>();
    try (MongoCursor<RawBsonDocument> cursor = collection.find().batchSize(BATCH).iterator()) {
      while (cursor.hasNext()) {
        batch.add(cursor.next());
        if (batch.size() == BATCH) {
          batches.put(new Batch(name, batch));
          batch = new ArrayList<>();
        }
      }
    }
    if (!batch.isEmpty()) {
      batches.put(new Batch(name, batch));
    }
    return null;
  }

  private Void write(String database) throws InterruptedException {
    while (true) {
      Batch batch = batches.take();
      if (batch.documents().isEmpty()) {
        return null;
      }
      var unused =
          destination
              .getDatabase(database)
              .getCollection(batch.collection(), RawBsonDocument.class)
              .withWriteConcern(WriteConcern.MAJORITY)
              .insertMany(batch.documents(), UNORDERED);
    }
  }
}
