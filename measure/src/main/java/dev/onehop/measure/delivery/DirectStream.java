package dev.onehop.measure.delivery;

import dev.onehop.resync.Failure;
import dev.onehop.streams.ShardParts;
import dev.onehop.streams.ShardedChangeStream;
import dev.onehop.streams.channel.ChangeChannels;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.StreamEvent;
import java.time.Duration;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** OneHop's change stream of each shard: in arrival order, sorted, or split into channels. */
final class DirectStream extends EventStream {

  private static final Duration OPENING = Duration.ofSeconds(60);

  private final Disposable.Composite subscriptions = Disposables.composite();
  private final Runnable release;

  /**
   * @param release releases the shared resources of the subscriptions; called after these have
   *     ended
   */
  private DirectStream(Runnable release) {
    this.release = release;
  }

  /** Opens one stream whose events are in order. */
  static EventStream ordered(StreamRequest request, Sink sink) {
    return new DirectStream(() -> {})
        .read(Flux.from(inOrder(request).documents()).doOnNext(document -> sink.take(0, document)));
  }

  /** Opens one stream whose events are in order, and splits it into channels. */
  static EventStream channels(StreamRequest request, Sink sink) {
    return new DirectStream(() -> {})
        .read(
            ChangeChannels.builder(inOrder(request), request.channels())
                .build()
                .process(
                    (channel, events) -> {
                      events.forEach(event -> sink.take(channel, event.document()));
                      return Mono.empty();
                    }));
  }

  /** Opens a separate stream of each shard. A shard that is added later is not read. */
  static EventStream shards(StreamRequest request, Sink sink) {
    ShardParts parts = builder(request).build().parts();
    DirectStream stream = new DirectStream(parts::close);
    try {
      ShardParts.Opening opening = Mono.from(parts.open()).block(OPENING);
      if (opening == null) {
        throw Failure.run("the shards' change streams could not be opened", null);
      }
      for (String shard : opening.shards().ids()) {
        var unused =
            stream.read(
                Flux.from(parts.events(shard, opening.start(), 0, 1))
                    .ofType(StreamEvent.Change.class)
                    .doOnNext(change -> sink.take(0, change.document())));
      }
      return stream;
    } catch (RuntimeException e) {
      stream.close();
      throw e;
    }
  }

  private static ShardedChangeStream inOrder(StreamRequest request) {
    return builder(request).order(request.total() ? Order.TOTAL : Order.PER_KEY).build();
  }

  private static ShardedChangeStream.Builder builder(StreamRequest request) {
    ShardedChangeStream.Builder stream =
        ShardedChangeStream.builder(Clients.settings(request.url()))
            .collection(request.url().database(), request.collection())
            .pipeline(request.filter())
            .batchSize(StreamRequest.BATCH)
            .startAtOperationTime(request.start());
    Duration await = request.await();
    return await == null ? stream : stream.maxAwaitTime(await);
  }

  private DirectStream read(Publisher<?> events) {
    boolean unused =
        subscriptions.add(
            Flux.from(events)
                .subscribe(
                    event -> {},
                    this::failed,
                    () -> failed(new IllegalStateException("the change stream has ended"))));
    return this;
  }

  @Override
  public void close() {
    subscriptions.dispose();
    release.run();
  }
}
