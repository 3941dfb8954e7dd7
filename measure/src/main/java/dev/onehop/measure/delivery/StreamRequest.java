package dev.onehop.measure.delivery;

import com.mongodb.MongoClientSettings;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;

/**
 * Which events are wanted, the same by every path.
 *
 * @param settings of clients of the cluster
 * @param start cluster time from which on
 * @param filter a stage that the servers run over the events; none if empty
 * @param await how long a server may wait for events before it answers without any
 * @param total whether the ordered stream has one order of all events, and not one of each document
 */
record StreamRequest(
    MongoClientSettings settings,
    String database,
    String collection,
    BsonTimestamp start,
    List<BsonDocument> filter,
    Duration await,
    boolean total) {

  /** How many events a server sends at most at once, by every path. */
  static final int BATCH = 1_000;

  @Override
  public String toString() {
    return database + "." + collection + " from " + start; // Without a password.
  }
}
