package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** The merged stream of all shards. Cold: each subscriber has its own cluster. */
public final class MergedStream implements Publisher<StreamEvent> {
  private final Supplier<Cluster> clusters;
  private final MergeSettings settings;
  private final @Nullable Metering metering;

  /**
   * The registry for the meters of subscriptions.
   *
   * @param registry the registry
   * @param stream the value of the tag {@code stream}
   */
  public record Metering(MeterRegistry registry, String stream) {}

  /**
   * @param clusters called once per subscriber; the result is closed with the subscription
   * @param metering the metering; null for none
   */
  public MergedStream(
      Supplier<Cluster> clusters, MergeSettings settings, @Nullable Metering metering) {
    this.clusters = clusters;
    this.settings = settings;
    this.metering = metering;
  }

  /** The position where a stream of a cluster starts; closes the cluster. */
  public static Mono<Checkpoint> start(Cluster cluster) {
    return cluster
        .open()
        .map(Cluster.Opening::start)
        .retryWhen(
            Retry.backoff(Long.MAX_VALUE, Pauses.after(1))
                .maxBackoff(Pauses.after(Integer.MAX_VALUE))
                .filter(
                    failure ->
                        failure instanceof ReadFailure known
                            && known.kind() == ReadFailure.Kind.PASSING))
        .onErrorMap(ReadFailure.class, ReadFailure::getCause)
        .doFinally(end -> cluster.close());
  }

  @Override
  public void subscribe(Subscriber<? super StreamEvent> subscriber) {
    Cluster cluster;
    try {
      cluster = clusters.get();
    } catch (RuntimeException failure) {
      reactor.core.publisher.Operators.error(subscriber, failure);
      return;
    }
    StreamMeter meters =
        metering == null ? null : new StreamMeter(metering.registry(), metering.stream());
    MergedSubscription subscription =
        new MergedSubscription(subscriber, cluster, settings, meters);
    subscriber.onSubscribe(subscription);
    subscription.start();
  }
}
