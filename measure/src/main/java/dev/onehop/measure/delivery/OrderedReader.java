package dev.onehop.measure.delivery;

import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Order;
import java.util.function.Consumer;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** OneHop's change stream of each shard, put in order. */
final class OrderedReader implements EventReader {

  private @Nullable Disposable subscription; // of the thread that opens and closes
  private volatile @Nullable Throwable failure;

  private OrderedReader() {}

  static OrderedReader open(StreamRequest request, Consumer<RawBsonDocument> sink) {
    OrderedReader reader = new OrderedReader();
    reader.subscription =
        Flux.from(
                stream(request)
                    .order(request.total() ? Order.TOTAL : Order.PER_KEY)
                    .build()
                    .documents())
            .subscribe(
                sink,
                error -> reader.failure = error,
                () -> reader.failure = new IllegalStateException("the change stream has ended"));
    return reader;
  }

  /** A stream of these events, in an order that is still to be chosen. */
  static ShardedChangeStream.Builder stream(StreamRequest request) {
    return ShardedChangeStream.builder(request.settings())
        .collection(request.database(), request.collection())
        .pipeline(request.filter())
        .batchSize(StreamRequest.BATCH)
        .maxAwaitTime(request.await())
        .startAtOperationTime(request.start());
  }

  @Override
  public @Nullable Throwable failure() {
    return failure;
  }

  @Override
  public void close() {
    if (subscription != null) {
      subscription.dispose();
    }
  }
}
