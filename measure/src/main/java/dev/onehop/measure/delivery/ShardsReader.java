package dev.onehop.measure.delivery;

import dev.onehop.resync.Failure;
import dev.onehop.streams.ShardParts;
import dev.onehop.streams.event.StreamEvent;
import java.time.Duration;
import java.util.function.Consumer;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * OneHop's change stream of each shard, each by itself: events come as the shards send them. A
 * shard that is added later is not read.
 */
final class ShardsReader implements EventReader {

  private static final Duration OPENING = Duration.ofSeconds(60);

  private final ShardParts parts;
  private final Disposable.Composite subscriptions = Disposables.composite();
  private volatile @Nullable Throwable failure;

  private ShardsReader(ShardParts parts) {
    this.parts = parts;
  }

  static ShardsReader open(StreamRequest request, Consumer<RawBsonDocument> sink) {
    ShardsReader reader = new ShardsReader(OrderedReader.stream(request).build().parts());
    try {
      ShardParts.Opening opening = Mono.from(reader.parts.open()).block(OPENING);
      if (opening == null) {
        throw Failure.run("the shards' change streams could not be opened", null);
      }
      opening.shards().ids().forEach(shard -> reader.read(shard, opening, sink));
      return reader;
    } catch (RuntimeException e) {
      reader.close();
      throw e;
    }
  }

  private void read(String shard, ShardParts.Opening opening, Consumer<RawBsonDocument> sink) {
    boolean unused =
        subscriptions.add(
            Flux.from(parts.events(shard, opening.start(), 0, 1))
                .ofType(StreamEvent.Change.class)
                .subscribe(
                    change -> sink.accept(change.document()),
                    error -> failure = error,
                    () -> failure = new IllegalStateException("a shard's stream has ended")));
  }

  @Override
  public @Nullable Throwable failure() {
    return failure;
  }

  @Override
  public void close() {
    subscriptions.dispose();
    parts.close();
  }
}
