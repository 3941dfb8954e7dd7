package dev.onehop.streams.internal.merge;

import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The change stream of one shard. Calls are sequential, except those of {@link #advance} and {@link
 * #close}. Methods fail with a {@link ReadFailure}.
 */
public interface ShardStream {

  /**
   * Events, and the position of the stream after them.
   *
   * @param token {@code _data} of the batch's token, null if it has none
   * @param ended whether the cursor is closed
   */
  record Batch(List<RawBsonDocument> events, @Nullable String token, boolean ended) {}

  /**
   * A position at which a stream starts.
   *
   * @param after {@code _data} of a token
   * @param own whether the token comes from this shard's stream; if not, the stream may start with
   *     events before the token, of the same cluster time
   */
  record Place(String after, boolean own) {}

  /**
   * Opens the stream, and closes the previous cursor.
   *
   * @param place the position
   * @param batchSize the most events in this and the following batches; 0 for the setting
   */
  Mono<Batch> open(Place place, int batchSize);

  /** The next batch, for which the server may wait. */
  Mono<Batch> next(Duration wait);

  /**
   * An event that is too large to be sent like others.
   *
   * @param event the event; raw if it is whole
   * @param whole whether the event is complete, because the server has sent it in fragments; if
   *     not, it has only the fields that every server can send
   */
  record Large(BsonDocument event, boolean whole) {}

  /** The first event after a position, complete or reduced. */
  Mono<Large> large(Place place);

  /** The oldest cluster time from which the shard has events. */
  Mono<BsonTimestamp> oldest();

  /** The cluster time of the oplog's first entry; empty if the user lacks the right. */
  Mono<BsonTimestamp> oplogBegin();

  /**
   * Advances an idle shard's clock to the latest known cluster time. Every batch that is requested
   * after the completion then has a token beyond this time. Never fails, but may complete without
   * an effect.
   */
  Mono<Void> advance();

  /** Closes the cursor. Never fails. */
  Mono<Void> close();
}
