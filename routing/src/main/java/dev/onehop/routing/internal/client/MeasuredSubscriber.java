package dev.onehop.routing.internal.client;

import dev.onehop.routing.internal.client.OperationRouter.Route;
import dev.onehop.routing.internal.client.RoutingMetrics.Outcome;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.util.context.Context;

/** Passes an operation's signals on and tells when and how it ended. */
final class MeasuredSubscriber<R> implements CoreSubscriber<R>, Subscription {
  private final OperationRouter router;
  private final String namespace;
  private final String operation;
  private final Route route;
  private final @Nullable Observation observation;
  private final CoreSubscriber<? super R> actual;
  private final long startNanos = System.nanoTime();
  private @Nullable Subscription upstream;
  private boolean ended;

  MeasuredSubscriber(
      OperationRouter router,
      String namespace,
      String operation,
      Route route,
      @Nullable Observation observation,
      CoreSubscriber<? super R> actual) {
    this.router = router;
    this.namespace = namespace;
    this.operation = operation;
    this.route = route;
    this.observation = observation;
    this.actual = actual;
  }

  @Override
  public Context currentContext() {
    return observation == null
        ? actual.currentContext()
        : Observations.in(actual.currentContext(), observation);
  }

  @Override
  public void onSubscribe(Subscription subscription) {
    upstream = subscription;
    actual.onSubscribe(this);
  }

  @Override
  public void onNext(R result) {
    actual.onNext(result);
  }

  @Override
  public void onError(Throwable failure) {
    if (observation != null) {
      observation.error(failure);
    }
    end(Outcome.FAILED);
    actual.onError(failure);
  }

  @Override
  public void onComplete() {
    end(Outcome.OK);
    actual.onComplete();
  }

  @Override
  public void request(long demand) {
    if (upstream != null) {
      upstream.request(demand);
    }
  }

  @Override
  public void cancel() {
    if (upstream != null) {
      upstream.cancel();
    }
    end(Outcome.CANCELLED);
  }

  /** A cancellation may race with the end; measuring that twice does no harm. */
  private void end(Outcome outcome) {
    if (ended) {
      return;
    }
    ended = true;
    long now = System.nanoTime();
    router.ended(namespace, operation, route, outcome, now - startNanos, now);
    if (observation != null) {
      Observations.end(observation);
    }
  }
}
