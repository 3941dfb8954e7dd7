package dev.onehop.measure.delivery;

import dev.onehop.resync.ClusterUrl;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * A request for events, which is the same for every path. Immutable.
 *
 * @param url the URL of the cluster, with the database
 * @param start the cluster time of the first event
 * @param filter stages that the servers apply to the events
 * @param await the time for which a server may wait for events before it replies without events;
 *     null for the default of each path
 * @param total whether merged streams have one order of all events; false for an order of each
 *     document's events
 * @param channels the number of channels into which events are split by the hash of their
 *     document's key
 */
record StreamRequest(
    ClusterUrl url,
    String collection,
    BsonTimestamp start,
    List<BsonDocument> filter,
    @Nullable Duration await,
    boolean total,
    int channels) {

  /**
   * The largest number of events in a server's batch, for every path. Without this limit, a server
   * with a backlog fills a batch of 16 MB before it replies, and the consumer waits.
   */
  static final int BATCH = 1_000;

  /**
   * Returns a request for the events that also match a query. The new request starts at {@code
   * from}.
   */
  StreamRequest matching(BsonDocument query, BsonTimestamp from) {
    return new StreamRequest(
        url, collection, from, List.of(new BsonDocument("$match", query)), await, total, channels);
  }
}
