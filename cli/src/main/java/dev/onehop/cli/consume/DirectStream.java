package dev.onehop.cli.consume;

import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.event.Order;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/** OneHop's change stream of each shard, merged and split here. */
final class DirectStream implements EventStream {

  /** How many events are asked for and not yet handed on. */
  private static final int DEMAND = 2 * ChannelSplit.MOST_AT_ONCE;

  private final BlockingQueue<RawBsonDocument> arrived = new ArrayBlockingQueue<>(DEMAND);
  private final Events events = new Events();
  private final ChannelSplit split;
  private final Thread reader;
  private volatile @Nullable Throwable failure;

  private DirectStream(ChannelSplit split) {
    this.split = split;
    this.reader = new Thread(this::readUntilClosed, "direct-stream");
  }

  static DirectStream open(ConsumerTask task, Consumer consumer) {
    ShardedChangeStream source =
        ShardedChangeStream.builder(task.settings())
            .collection(task.database(), task.collection())
            .startAtOperationTime(new BsonTimestamp(task.startSeconds(), task.startIncrement()))
            .order(task.total() ? Order.TOTAL : Order.PER_KEY)
            .build();
    DirectStream stream = new DirectStream(new ChannelSplit(task.channels(), consumer));
    stream.reader.start();
    source.documents().subscribe(stream.events);
    return stream;
  }

  private void readUntilClosed() {
    try {
      while (true) {
        List<RawBsonDocument> next = new ArrayList<>();
        next.add(arrived.take());
        arrived.drainTo(next, ChannelSplit.MOST_AT_ONCE - 1);
        split.take(next);
        events.request(next.size());
      }
    } catch (InterruptedException e) {
      // Closed.
    } catch (RuntimeException e) {
      failure = e;
    }
  }

  @Override
  public @Nullable Throwable failure() {
    return failure == null ? split.failure() : failure;
  }

  @Override
  public void close() {
    events.dispose();
    reader.interrupt();
    try {
      reader.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    split.close();
  }

  private final class Events extends BaseSubscriber<RawBsonDocument> {
    @Override
    protected void hookOnSubscribe(Subscription subscription) {
      subscription.request(DEMAND);
    }

    @Override
    protected void hookOnNext(RawBsonDocument event) {
      arrived.add(event); // There is room for all that were asked for.
    }

    @Override
    protected void hookOnError(Throwable error) {
      failure = error;
    }

    @Override
    protected void hookOnComplete() {
      failure = new IllegalStateException("the change stream has ended by itself");
    }
  }
}
