package dev.onehop.measure.delivery;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCursor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/** The official driver's change stream through a mongos. */
final class MongosReader implements EventReader {

  private final MongoClient client;
  private final MongoCursor<RawBsonDocument> cursor;
  private final Consumer<RawBsonDocument> sink;
  private final Thread thread = new Thread(this::readUntilClosed, "mongos-reader");
  private volatile boolean closed;
  private volatile @Nullable Throwable failure;

  private MongosReader(
      MongoClient client, MongoCursor<RawBsonDocument> cursor, Consumer<RawBsonDocument> sink) {
    this.client = client;
    this.cursor = cursor;
    this.sink = sink;
  }

  static MongosReader open(StreamRequest request, Consumer<RawBsonDocument> sink) {
    MongoClient client = MongoClients.create(request.settings());
    try {
      MongosReader reader =
          new MongosReader(
              client,
              client
                  .getDatabase(request.database())
                  .getCollection(request.collection(), BsonDocument.class)
                  .watch(request.filter())
                  .batchSize(StreamRequest.BATCH)
                  .maxAwaitTime(request.await().toMillis(), TimeUnit.MILLISECONDS)
                  .startAtOperationTime(request.start())
                  .withDocumentClass(RawBsonDocument.class)
                  .iterator(),
              sink);
      reader.thread.setDaemon(true);
      reader.thread.start();
      return reader;
    } catch (RuntimeException e) {
      client.close();
      throw e;
    }
  }

  private void readUntilClosed() {
    try {
      while (!closed) {
        RawBsonDocument event = cursor.tryNext(); // Waits as long as the server does.
        if (event != null) {
          sink.accept(event);
        }
      }
    } catch (RuntimeException e) {
      if (!closed) {
        failure = e;
      }
    }
  }

  @Override
  public @Nullable Throwable failure() {
    return failure;
  }

  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    cursor.close();
    client.close();
  }
}
