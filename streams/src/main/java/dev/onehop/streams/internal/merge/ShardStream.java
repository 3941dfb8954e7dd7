package dev.onehop.streams.internal.merge;

import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The change stream of one shard. The caller waits for the result of a method before the next call.
 * {@link #advance} and {@link #close} may be called at any time. Methods fail with a {@link
 * ReadFailure}.
 */
public interface ShardStream {

  /**
   * Events, and the position of the stream after these events.
   *
   * @param resumeToken the batch's token, null if the batch has no token
   * @param ended whether the server has closed the cursor
   */
  record Batch(List<RawBsonDocument> events, @Nullable BsonDocument resumeToken, boolean ended) {
    /** {@code _data} of the batch's token, null if the batch has no token. */
    public @Nullable String token() {
      return resumeToken == null ? null : resumeToken.getString("_data").getValue();
    }
  }

  /**
   * A position at which a stream starts.
   *
   * @param after {@code _data} of a token
   * @param own the token with all its fields, if it comes from this shard's stream. In addition to
   *     {@code _data} it may have the field {@code _typeBits}. A server needs this field to read
   *     the {@code _data} of some keys, such as decimals. Null for another token: the stream then
   *     starts at the cluster time of the token, and may emit earlier events of this cluster time
   */
  record Place(String after, @Nullable BsonDocument own) {
    /** The position after a token of this shard's stream. */
    static Place of(BsonDocument token) {
      // A copy, so that the position does not keep the buffer of the server's reply in memory.
      BsonDocument copy = new BsonDocument();
      copy.putAll(token);
      return new Place(copy.getString("_data").getValue(), copy);
    }
  }

  /**
   * Opens the stream and closes the previous cursor.
   *
   * @param place the position after which the stream starts
   * @param batchSize the largest number of events in this batch and in each following batch; 0 for
   *     the size in the settings
   */
  Mono<Batch> open(Place place, int batchSize);

  /**
   * The next batch.
   *
   * @param wait how long the server may wait for events
   */
  Mono<Batch> next(Duration wait);

  /**
   * An event that is too large to be sent like other events.
   *
   * @param event the event; a {@link RawBsonDocument} if it is complete
   * @param whole true if the server has sent the complete event in fragments; false if the event
   *     has only its small fields
   */
  record Large(BsonDocument event, boolean whole) {}

  /** The first event after a position. It is complete, or has only its small fields. */
  Mono<Large> large(Place place);

  /** The oldest cluster time from which the shard has events. */
  Mono<BsonTimestamp> oldest();

  /** The cluster time of the oplog's first entry; empty if the user lacks the right to read it. */
  Mono<BsonTimestamp> oplogBegin();

  /**
   * Advances an idle shard's clock to the latest known cluster time. Every batch that is requested
   * after the completion has a token after this time. Never fails, but may complete without an
   * effect.
   */
  Mono<Void> advance();

  /** Closes the cursor. Never fails. */
  Mono<Void> close();
}
