package dev.onehop.streams.internal.merge;

import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The change stream of one shard. There is one call at a time, but for {@link #advance} and {@link
 * #close}. What fails, fails with a {@link ReadFailure}.
 */
public interface ShardStream {

  /**
   * Events, and where the stream is after them.
   *
   * @param token {@code _data} of the batch's token, null if it has none
   * @param ended whether the cursor is closed
   */
  record Batch(List<RawBsonDocument> events, @Nullable String token, boolean ended) {}

  /**
   * Where a stream begins.
   *
   * @param after {@code _data} of a token
   * @param own whether this shard's stream has given the token; if not, the stream may begin with
   *     events up to the token, those of the same cluster time
   */
  record Place(String after, boolean own) {}

  /**
   * Opens the stream, in place of what was open before.
   *
   * @param batchSize most events in this batch and those that follow; 0 for as asked
   */
  Mono<Batch> open(Place place, int batchSize);

  /** The next batch, for which the server may wait. */
  Mono<Batch> next(Duration wait);

  /**
   * An event that is too large to be sent like others.
   *
   * @param event raw if it is whole
   * @param whole whether the server has sent it in parts; if not, it has no more of its fields than
   *     any server can send
   */
  record Large(BsonDocument event, boolean whole) {}

  /** The first event after a place, in whatever way the server can send it. */
  Mono<Large> large(Place place);

  /** The oldest cluster time from which the shard still has events. */
  Mono<BsonTimestamp> oldest();

  /** The cluster time of the oplog's first entry; empty if that may not be read. */
  Mono<BsonTimestamp> oplogBegin();

  /**
   * Lets an idle shard's clock reach the latest cluster time that is known, so that its stream can
   * say that it has passed that: every batch that is asked for after this has completed does. Never
   * fails, and may complete without having done so.
   */
  Mono<Void> advance();

  /** Closes the cursor. Never fails. */
  Mono<Void> close();
}
