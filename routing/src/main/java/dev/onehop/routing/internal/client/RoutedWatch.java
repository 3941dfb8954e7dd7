package dev.onehop.routing.internal.client;

import com.mongodb.client.model.Collation;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import com.mongodb.client.model.changestream.FullDocument;
import com.mongodb.client.model.changestream.FullDocumentBeforeChange;
import com.mongodb.reactivestreams.client.ChangeStreamPublisher;
import com.mongodb.reactivestreams.client.ClientSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;
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
  private final Function<ClientSession, ChangeStreamPublisher<T>> open;
  private final List<UnaryOperator<ChangeStreamPublisher<T>>> settings = new ArrayList<>(2);
  private ChangeStreamPublisher<T> official;
  private boolean begins = true;

  /**
   * @param official the stream without a session
   * @param open the same stream in a session
   */
  RoutedWatch(
      ClusterTimes times,
      ChangeStreamPublisher<T> official,
      Function<ClientSession, ChangeStreamPublisher<T>> open) {
    this.times = times;
    this.official = official;
    this.open = open;
  }

  private RoutedWatch<T> set(UnaryOperator<ChangeStreamPublisher<T>> setting) {
    official = setting.apply(official);
    settings.add(setting);
    return this;
  }

  private <R> Flux<R> read(Function<ChangeStreamPublisher<T>, Publisher<R>> read) {
    if (!begins) {
      return Flux.from(read.apply(official));
    }
    return Flux.usingWhen(
        times.sessionNow(),
        session -> {
          ChangeStreamPublisher<T> publisher = open.apply(session);
          for (UnaryOperator<ChangeStreamPublisher<T>> setting : settings) {
            publisher = setting.apply(publisher);
          }
          return read.apply(publisher);
        },
        session -> Mono.fromRunnable(session::close));
  }

  @Override
  public void subscribe(Subscriber<? super ChangeStreamDocument<T>> subscriber) {
    read(publisher -> publisher).subscribe(subscriber);
  }

  @Override
  public Publisher<ChangeStreamDocument<T>> first() {
    return Mono.from(read(publisher -> publisher.first()));
  }

  @Override
  public <D> Publisher<D> withDocumentClass(Class<D> clazz) {
    official.withDocumentClass(clazz);
    return read(publisher -> publisher.withDocumentClass(clazz));
  }

  @Override
  public ChangeStreamPublisher<T> resumeAfter(BsonDocument resumeToken) {
    begins = false;
    return set(publisher -> publisher.resumeAfter(resumeToken));
  }

  @Override
  public ChangeStreamPublisher<T> startAfter(BsonDocument startAfter) {
    begins = false;
    return set(publisher -> publisher.startAfter(startAfter));
  }

  @Override
  public ChangeStreamPublisher<T> startAtOperationTime(BsonTimestamp startAtOperationTime) {
    begins = false;
    return set(publisher -> publisher.startAtOperationTime(startAtOperationTime));
  }

  @Override
  public ChangeStreamPublisher<T> fullDocument(FullDocument fullDocument) {
    return set(publisher -> publisher.fullDocument(fullDocument));
  }

  @Override
  public ChangeStreamPublisher<T> fullDocumentBeforeChange(
      FullDocumentBeforeChange fullDocumentBeforeChange) {
    return set(publisher -> publisher.fullDocumentBeforeChange(fullDocumentBeforeChange));
  }

  @Override
  public ChangeStreamPublisher<T> maxAwaitTime(long maxAwaitTime, TimeUnit timeUnit) {
    return set(publisher -> publisher.maxAwaitTime(maxAwaitTime, timeUnit));
  }

  @Override
  public ChangeStreamPublisher<T> collation(@Nullable Collation collation) {
    return set(publisher -> publisher.collation(collation));
  }

  @Override
  public ChangeStreamPublisher<T> batchSize(int batchSize) {
    return set(publisher -> publisher.batchSize(batchSize));
  }

  @Override
  public ChangeStreamPublisher<T> comment(@Nullable String comment) {
    return set(publisher -> publisher.comment(comment));
  }

  @Override
  public ChangeStreamPublisher<T> comment(@Nullable BsonValue comment) {
    return set(publisher -> publisher.comment(comment));
  }

  @Override
  public ChangeStreamPublisher<T> showExpandedEvents(boolean showExpandedEvents) {
    return set(publisher -> publisher.showExpandedEvents(showExpandedEvents));
  }
}
