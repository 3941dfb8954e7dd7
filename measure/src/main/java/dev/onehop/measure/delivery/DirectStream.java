package dev.onehop.measure.delivery;

import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.channel.ChangeChannels;
import dev.onehop.streams.event.Order;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** OneHop's change stream of each shard, in OneHop's channels. */
final class DirectStream implements EventStream {

  private final RestingConsumer consumer;
  private @Nullable Disposable subscription; // of the thread that opens and closes
  private volatile @Nullable Throwable failure;

  private DirectStream(RestingConsumer consumer) {
    this.consumer = consumer;
  }

  static DirectStream open(ConsumerTask task, Consumer consumer) {
    ShardedChangeStream source =
        ShardedChangeStream.builder(task.settings())
            .collection(task.database(), task.collection())
            .startAtOperationTime(new BsonTimestamp(task.startSeconds(), task.startIncrement()))
            .batchSize(EventStream.BATCH)
            .order(task.total() ? Order.TOTAL : Order.PER_KEY)
            .build();
    DirectStream stream = new DirectStream(new RestingConsumer(consumer));
    stream.subscription =
        Mono.from(
                ChangeChannels.builder(source, task.channels())
                    .build()
                    .process(
                        (channel, events) -> {
                          events.forEach(event -> stream.consumer.take(channel, event.document()));
                          return Mono.empty();
                        }))
            .subscribe(
                nothing -> {},
                error -> stream.failure = error,
                () ->
                    stream.failure =
                        new IllegalStateException("the change stream has ended by itself"));
    return stream;
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
    consumer.rest();
  }
}
