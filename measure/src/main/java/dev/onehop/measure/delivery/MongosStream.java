package dev.onehop.measure.delivery;

import com.mongodb.client.ChangeStreamIterable;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCursor;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/** The official driver's change stream through a mongos: one stream, split here. */
final class MongosStream implements EventStream {

  private final MongoClient client;
  private final MongoCursor<RawBsonDocument> cursor;
  private final ChannelSplit split;
  private final Thread reader;
  private volatile boolean closed;
  private volatile @Nullable Throwable failure;

  private MongosStream(
      MongoClient client, MongoCursor<RawBsonDocument> cursor, ChannelSplit split) {
    this.client = client;
    this.cursor = cursor;
    this.split = split;
    this.reader = new Thread(this::readUntilClosed, "mongos-stream");
  }

  static MongosStream open(ConsumerTask task, Consumer consumer) {
    MongoClient client = MongoClients.create(task.settings());
    try {
      ChangeStreamIterable<BsonDocument> events =
          client
              .getDatabase(task.database())
              .getCollection(task.collection(), BsonDocument.class)
              .watch()
              .batchSize(BATCH)
              .startAtOperationTime(new BsonTimestamp(task.startSeconds(), task.startIncrement()));
      MongosStream stream =
          new MongosStream(
              client,
              events.withDocumentClass(RawBsonDocument.class).iterator(),
              new ChannelSplit(task.channels(), consumer));
      stream.reader.start();
      return stream;
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
          List<RawBsonDocument> events = new ArrayList<>();
          events.add(event);
          while (cursor.available() > 0 && events.size() < ChannelSplit.MOST_AT_ONCE) {
            events.add(cursor.next());
          }
          split.take(events);
        }
      }
    } catch (RuntimeException e) {
      if (!closed) {
        failure = e;
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  @Override
  public @Nullable Throwable failure() {
    return failure == null ? split.failure() : failure;
  }

  @Override
  public void close() {
    closed = true;
    reader.interrupt();
    try {
      reader.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    split.close();
    cursor.close();
    client.close();
  }
}
