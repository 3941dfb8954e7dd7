package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import dev.onehop.streams.observation.StreamListener;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/**
 * The merged stream of all shards. The publisher is cold: each subscriber has its own connections
 * and cursors.
 *
 * @param clusters creates the cluster of a subscriber, which is closed at the end of the
 *     subscription
 */
public record MergedStream(
    Supplier<Cluster> clusters, MergeSettings settings, Observation observation)
    implements Publisher<StreamEvent> {

  /**
   * The observation of subscriptions.
   *
   * @param stream the watched collection, database or cluster, for the log and the tag {@code
   *     stream}
   * @param registry the registry for meters; null for none
   * @param listener the listener
   * @param stallAfter the time after which a position that does not move is reported
   */
  public record Observation(
      String stream,
      @Nullable MeterRegistry registry,
      StreamListener listener,
      Duration stallAfter) {}

  /** The position where a stream of the cluster would start. Closes the cluster afterwards. */
  public static Mono<Checkpoint> start(Cluster cluster) {
    return cluster
        .open()
        .map(Cluster.Opening::start)
        .retryWhen(Pauses.whenever(ReadFailure::isPassing))
        .onErrorMap(ReadFailure.class, ReadFailure::getCause)
        .doFinally(end -> cluster.close());
  }

  @Override
  public void subscribe(Subscriber<? super StreamEvent> subscriber) {
    Cluster cluster;
    try {
      cluster = clusters.get();
    } catch (RuntimeException failure) {
      Operators.error(subscriber, failure);
      return;
    }
    MergedSubscription subscription =
        new MergedSubscription(subscriber, cluster, settings, observation);
    subscriber.onSubscribe(subscription);
    subscription.start();
  }
}
