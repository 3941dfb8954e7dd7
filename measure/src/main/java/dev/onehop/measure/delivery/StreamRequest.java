package dev.onehop.measure.delivery;

import com.mongodb.MongoClientSettings;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * The requested events, the same for every path. Immutable.
 *
 * @param settings of clients of the cluster
 * @param start the cluster time of the first event
 * @param filter stages that the servers apply to the events
 * @param await how long a server may wait for events before it replies without any; null for the
 *     default of each path
 * @param total whether streams of shards are sorted in one order of all events, and not only for
 *     each document
 * @param channels the number of channels into which events are split by the hash of their
 *     document's key
 */
record StreamRequest(
    MongoClientSettings settings,
    String database,
    String collection,
    BsonTimestamp start,
    List<BsonDocument> filter,
    @Nullable Duration await,
    boolean total,
    int channels) {

  /**
   * The most events in a server's batch, for every path. Without it a server fills a batch of 16 MB
   * from a backlog before it replies, while the consumer waits.
   */
  static final int BATCH = 1_000;

  /** The same events with an additional query, from another time on. */
  StreamRequest matching(BsonDocument query, BsonTimestamp from) {
    return new StreamRequest(
        settings,
        database,
        collection,
        from,
        List.of(new BsonDocument("$match", query)),
        await,
        total,
        channels);
  }

  @Override
  public String toString() {
    return database + "." + collection + " from " + start; // without the password
  }
}
