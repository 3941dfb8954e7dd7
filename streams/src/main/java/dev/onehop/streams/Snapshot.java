package dev.onehop.streams;

import com.mongodb.ClientSessionOptions;
import com.mongodb.reactivestreams.client.ClientSession;
import com.mongodb.reactivestreams.client.FindPublisher;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoCollection;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.internal.token.Tokens;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A query with read concern {@code snapshot}: all documents have the state of one cluster time. A
 * stream that starts at {@link #next} emits exactly the changes that the documents do not contain.
 *
 * <p>Servers keep earlier states for {@code minSnapshotHistoryWindowInSeconds}, 5 minutes by
 * default. A query that takes longer fails. {@code SnapshotThenStream} has no such limit.
 */
public final class Snapshot {
  private static final int BATCH = 1_000;

  private Snapshot() {}

  /**
   * Runs a query.
   *
   * @param client the client of the collection
   * @param query completes the query, for example with a filter
   * @param then receives the cluster time and the documents, and returns the publisher whose
   *     elements are emitted. It is called as soon as the server has chosen the cluster time
   * @return a cold publisher of the elements that {@code then} emits
   */
  public static <R> Publisher<R> read(
      MongoClient client,
      MongoCollection<?> collection,
      UnaryOperator<FindPublisher<RawBsonDocument>> query,
      BiFunction<BsonTimestamp, Flux<RawBsonDocument>, Publisher<R>> then) {
    return Flux.usingWhen(
        client.startSession(ClientSessionOptions.builder().snapshot(true).build()),
        session ->
            Flux.from(
                    query.apply(
                        collection
                            .withDocumentClass(RawBsonDocument.class)
                            .find(session)
                            .batchSize(BATCH)))
                .switchOnFirst(
                    (first, documents) ->
                        first.isOnError()
                            ? failed(documents)
                            : then.apply(time(session), documents)),
        session -> Mono.fromRunnable(session::close));
  }

  private static <R> Flux<R> failed(Flux<RawBsonDocument> documents) {
    return documents.thenMany(Flux.empty());
  }

  private static BsonTimestamp time(ClientSession session) {
    return Objects.requireNonNull(
        session.getSnapshotTimestamp(), "the server has returned no atClusterTime");
  }

  /** The position from which a stream has all changes after a snapshot. */
  public static Checkpoint next(BsonTimestamp time) {
    return Checkpoint.at(Tokens.after(time));
  }
}
