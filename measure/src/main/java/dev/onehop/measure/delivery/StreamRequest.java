package dev.onehop.measure.delivery;

import com.mongodb.MongoClientSettings;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * Which events are wanted, the same by every path. Immutable.
 *
 * @param settings of clients of the cluster
 * @param start the cluster time from which on
 * @param filter stages that the servers run over the events
 * @param await how long a server may wait for events before it replies without any; null for the
 *     default of each path
 * @param total whether streams of shards are put in one order of all events, and not of each
 *     document
 * @param channels into how many channels events are split by the hash of their document's key
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
   * How many events a server sends at most at once, by every path. Without it a server fills 16 MB
   * of a backlog before it sends any, while the consumer waits.
   */
  static final int BATCH = 1_000;

  /** The same events that match a query, from another time on. */
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
    return database + "." + collection + " from " + start; // Without a password.
  }
}
