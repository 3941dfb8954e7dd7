package dev.onehop.routing.internal.client;

import com.mongodb.client.model.Collation;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.client.model.changestream.FullDocumentBeforeChange;
import com.mongodb.reactivestreams.client.ChangeStreamPublisher;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A change stream on the nearest mongos. One that is to begin now begins after all that this
 * application has written before, whichever mongos that went through.
 *
 * @param <T> the type of the documents in its events
 */
final class RoutedWatch<T> implements ChangeStreamPublisher<T> {
  private final ClusterTimes times;
  private final ChangeStreamPublisher<T> official;
  private final @Nullable Long timeoutMillis;
  private boolean begins = true;

  /**
   * @param official the stream, which opens and closes its cursor in a session of its own
   * @param timeoutMillis its {@code timeoutMS}, null for none
   */
  RoutedWatch(ClusterTimes times, ChangeStreamPublisher<T> official, @Nullable Long timeoutMillis) {
    this.times = times;
    this.official = official;
    this.timeoutMillis = timeoutMillis;
  }

  private <R> Flux<R> read(Publisher<R> stream) {
    return begins
        ? Mono.defer(() -> times.tellNearest(Deadline.in(timeoutMillis))).thenMany(stream)
        : Flux.from(stream);
  }

  @Override
  public void subscribe(Subscriber<? super ChangeStreamDocument<T>> subscriber) {
    read(official).subscribe(subscriber);
  }

  @Override
  public Publisher<ChangeStreamDocument<T>> first() {
    return read(official.first()).next();
  }

  @Override
  public <D> Publisher<D> withDocumentClass(Class<D> clazz) {
    return read(official.withDocumentClass(clazz));
  }

  @Override
  public ChangeStreamPublisher<T> resumeAfter(BsonDocument resumeToken) {
    begins = false;
    official.resumeAfter(resumeToken);
    return this;
  }

  @Override
  public ChangeStreamPublisher<T> startAfter(BsonDocument startAfter) {
    begins = false;
    official.startAfter(startAfter);
    return this;
  }

  @Override
  public ChangeStreamPublisher<T> startAtOperationTime(BsonTimestamp startAtOperationTime) {
    begins = false;
    official.startAtOperationTime(startAtOperationTime);
    return this;
  }

  @Override
  public ChangeStreamPublisher<T> fullDocument(FullDocument fullDocument) {
    official.fullDocument(fullDocument);
    return this;
  }

  @Override
  public ChangeStreamPublisher<T> fullDocumentBeforeChange(
      FullDocumentBeforeChange fullDocumentBeforeChange) {
    official.fullDocumentBeforeChange(fullDocumentBeforeChange);
    return this;
  }

  @Override
  public ChangeStreamPublisher<T> maxAwaitTime(long maxAwaitTime, TimeUnit timeUnit) {
    official.maxAwaitTime(maxAwaitTime, timeUnit);
    return this;
  }

  @Override
  public ChangeStreamPublisher<T> collation(@Nullable Collation collation) {
    official.collation(collation);
    return this;
  }

  @Override
  public ChangeStreamPublisher<T> batchSize(int batchSize) {
    official.batchSize(batchSize);
    return this;
  }

  @Override
  public ChangeStreamPublisher<T> comment(@Nullable String comment) {
    official.comment(comment);
    return this;
  }

  @Override
  public ChangeStreamPublisher<T> comment(@Nullable BsonValue comment) {
    official.comment(comment);
    return this;
  }

  @Override
  public ChangeStreamPublisher<T> showExpandedEvents(boolean showExpandedEvents) {
    official.showExpandedEvents(showExpandedEvents);
    return this;
  }
}
