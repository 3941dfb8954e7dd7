package dev.onehop.measure.delivery;

import com.mongodb.client.ChangeStreamIterable;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCursor;
import dev.onehop.measure.frame.Parallel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * The official driver's change stream through a mongos: one stream, which this process splits into
 * channels.
 */
final class MongosStream extends EventStream {

  private final MongoClient client;
  private final MongoCursor<RawBsonDocument> cursor;
  private final @Nullable ChannelSplit split;
  private final Sink sink;
  private final Thread reader = new Thread(this::readUntilClosed, "mongos-stream");
  private volatile boolean closed;

  private MongosStream(
      MongoClient client, MongoCursor<RawBsonDocument> cursor, int channels, Sink sink) {
    this.client = client;
    this.cursor = cursor;
    this.sink = sink;
    this.split = channels == 0 ? null : new ChannelSplit(channels, sink, this::failed);
  }

  /** Opens a stream. Its events are not split if the request has no channels. */
  static MongosStream open(StreamRequest request, Sink sink) {
    MongoClient client = Clients.plain(request.url());
    try {
      ChangeStreamIterable<BsonDocument> events =
          client
              .getDatabase(request.url().database())
              .getCollection(request.collection(), BsonDocument.class)
              .watch(request.filter())
              .batchSize(StreamRequest.BATCH)
              .startAtOperationTime(request.start());
      Duration await = request.await();
      if (await != null) {
        events = events.maxAwaitTime(await.toMillis(), TimeUnit.MILLISECONDS);
      }
      MongoCursor<RawBsonDocument> cursor =
          events.withDocumentClass(RawBsonDocument.class).iterator();
      MongosStream stream = new MongosStream(client, cursor, request.channels(), sink);
      stream.reader.setDaemon(true);
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
        RawBsonDocument event = cursor.tryNext(); // waits until the server replies
        if (event != null) {
          handOn(event);
        }
      }
    } catch (RuntimeException e) {
      if (!closed) {
        failed(e);
      }
    } catch (InterruptedException e) {
      // the stream was closed
    }
  }

  private void handOn(RawBsonDocument first) throws InterruptedException {
    if (split == null) {
      sink.take(0, first);
      return;
    }
    List<RawBsonDocument> events = new ArrayList<>();
    events.add(first);
    while (cursor.available() > 0 && events.size() < ChannelSplit.MOST_AT_ONCE) {
      events.add(cursor.next());
    }
    split.take(events);
  }

  @Override
  public void close() {
    closed = true;
    reader.interrupt();
    Parallel.join(List.of(reader));
    if (split != null) {
      split.close();
    }
    cursor.close();
    client.close();
  }
}
