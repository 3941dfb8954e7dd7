package dev.onehop.measure.delivery;

import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.onehop.resync.ClusterUrl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.bson.RawBsonDocument;

/**
 * One client under load: writes to its own documents, and listens to those of another client of the
 * same process, so that one clock times both.
 */
final class LoadClient implements AutoCloseable {

  private final LoadTask task;
  private final StreamRequest request;
  private final List<HashRanges> shards;
  private final int client;
  private final MongoClient writes;
  private final MongoClient reads;
  private final GroupWriter writer;
  private final int listensTo;
  private final Map<StreamPath, Subscription> subscriptions = new EnumMap<>(StreamPath.class);

  /**
   * @param client its number, which is that of its documents, too
   * @param listensTo the number of the client whose documents it subscribes to
   */
  LoadClient(
      LoadTask task,
      ClusterUrl url,
      StreamRequest request,
      List<HashRanges> shards,
      int client,
      int listensTo) {
    this.task = task;
    this.request = request;
    this.shards = shards;
    this.client = client;
    this.listensTo = listensTo;
    this.writes = Clients.oneHop(url);
    this.reads = Clients.plain(url);
    MongoCollection<RawBsonDocument> collection =
        writes
            .getDatabase(request.database())
            .getCollection(request.collection(), RawBsonDocument.class)
            .withWriteConcern(WriteConcern.MAJORITY);
    this.writer = new GroupWriter(collection, task.run(), client, task.bytes());
  }

  /** Inserts the documents that it begins with. */
  void prepare(int documents) {
    writer.insertFirst(documents);
  }

  /**
   * Writes, and bootstraps meanwhile; returns when it is live by all paths.
   *
   * @param round 0 or 1, each once
   */
  void begin(int round) throws InterruptedException {
    subscriptions.values().forEach(Subscription::close);
    for (StreamPath path : StreamPath.values()) {
      int place = (client * StreamPath.values().length + path.number()) * 2 + round;
      subscriptions.put(
          path,
          new Subscription(
              path,
              request,
              reads,
              task.run(),
              listensTo,
              shards,
              // A subscription writes signals twice.
              2 * shards.size() * place,
              Duration.ofMillis(task.patienceMillis())));
    }
    writer.start(task.rate());
    List<SideBySide.Part> parts = new ArrayList<>();
    subscriptions
        .values()
        .forEach(subscription -> parts.add(() -> subscription.subscribe(listensTo)));
    SideBySide.run(parts);
  }

  /**
   * Ends writing.
   *
   * @return the last version of each document
   */
  Map<Long, Integer> stopWriting() throws InterruptedException {
    return writer.stop();
  }

  /** Waits until what was written has come by all paths. */
  void awaitWritten() throws InterruptedException {
    List<SideBySide.Part> parts = new ArrayList<>();
    subscriptions
        .values()
        .forEach(subscription -> parts.add(() -> subscription.awaitWritten(listensTo)));
    SideBySide.run(parts);
  }

  int listensTo() {
    return listensTo;
  }

  Subscription by(StreamPath path) {
    return Objects.requireNonNull(subscriptions.get(path));
  }

  @Override
  public void close() {
    writer.close();
    subscriptions.values().forEach(Subscription::close);
    writes.close();
    reads.close();
  }
}
