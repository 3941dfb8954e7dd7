package dev.onehop.measure.copying;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoCursor;
import com.mongodb.client.model.InsertManyOptions;
import dev.onehop.measure.frame.Parallel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * {@link CopyTool#DRIVER}: a copy that an application can program with the plain driver, through
 * one mongos on each side. It reads one cursor for each collection. Several writers insert
 * unordered batches. The documents stay encoded.
 */
final class SingleMongosCopy implements CopyToolRun {
  private static final int WRITERS = 8;
  private static final int BATCH = 1_000;
  private static final InsertManyOptions UNORDERED =
      new InsertManyOptions().ordered(false).bypassDocumentValidation(true);

  private final MongoClient source;
  private final MongoClient destination;
  private @Nullable SingleMongosApplier applier;

  SingleMongosCopy(String from, String to) {
    this.source = MongoClients.create(from);
    this.destination = MongoClients.create(to);
  }

  @Override
  public void full(List<String> collections) throws InterruptedException {
    ExecutorService writers = Executors.newFixedThreadPool(WRITERS);
    Queue<Future<?>> writing = new ConcurrentLinkedQueue<>();
    // A reader waits while many batches wait.
    Semaphore room = new Semaphore(3 * WRITERS);
    try {
      Parallel.forEach(
          collections,
          name -> {
            MongoCollection<RawBsonDocument> to = to(name);
            List<RawBsonDocument> batch = new ArrayList<>();
            try (MongoCursor<RawBsonDocument> cursor = from(name)) {
              while (cursor.hasNext()) {
                batch.add(cursor.next());
                if (batch.size() == BATCH || !cursor.hasNext()) {
                  List<RawBsonDocument> full = batch;
                  room.acquire();
                  writing.add(writers.submit(() -> write(to, full, room)));
                  batch = new ArrayList<>();
                }
              }
            }
          });
      for (Future<?> batch : writing) {
        Parallel.await(batch);
      }
    } finally {
      writers.shutdownNow();
    }
  }

  private MongoCursor<RawBsonDocument> from(String name) {
    return source
        .getDatabase(Workload.DATABASE)
        .getCollection(name, RawBsonDocument.class)
        .find()
        .batchSize(BATCH)
        .iterator();
  }

  private MongoCollection<RawBsonDocument> to(String name) {
    return destination
        .getDatabase(CopyTool.DRIVER.database())
        .getCollection(name, RawBsonDocument.class)
        .withWriteConcern(WriteConcern.MAJORITY);
  }

  private static void write(
      MongoCollection<RawBsonDocument> to, List<RawBsonDocument> batch, Semaphore room) {
    try {
      var unused = to.insertMany(batch, UNORDERED);
    } finally {
      room.release();
    }
  }

  @Override
  public void follow(BsonTimestamp since) {
    String name = Workload.collection(0);
    applier =
        new SingleMongosApplier(
            to(name),
            source
                .getDatabase(Workload.DATABASE)
                .getCollection(name)
                .watch()
                .batchSize(SingleMongosApplier.EVENTS_AT_ONCE)
                .startAtOperationTime(since)
                .withDocumentClass(RawBsonDocument.class)
                .iterator());
  }

  @Override
  public long applied() {
    return Objects.requireNonNull(applier).applied();
  }

  @Override
  public void unfollow() {
    Objects.requireNonNull(applier).close();
  }

  @Override
  public void close() {
    source.close();
    destination.close();
  }
}
