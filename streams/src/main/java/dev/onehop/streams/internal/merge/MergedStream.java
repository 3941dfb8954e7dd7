package dev.onehop.streams.internal.merge;

import dev.onehop.streams.event.StreamEvent;
import java.util.function.Supplier;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;

/** The streams of all shards as one. Cold: each subscriber has a cluster of its own. */
public final class MergedStream implements Publisher<StreamEvent> {
  private final Supplier<Cluster> clusters;
  private final MergeSettings settings;

  /**
   * @param clusters called once for each subscriber; what it gives is closed with the subscription
   */
  public MergedStream(Supplier<Cluster> clusters, MergeSettings settings) {
    this.clusters = clusters;
    this.settings = settings;
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
    MergedSubscription subscription = new MergedSubscription(subscriber, cluster, settings);
    subscriber.onSubscribe(subscription);
    subscription.start();
  }
}
