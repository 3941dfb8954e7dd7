package dev.onehop.routing.internal.client;

import dev.onehop.routing.internal.client.OperationRouter.Route;
import dev.onehop.routing.internal.metrics.Outcome;
import io.micrometer.observation.Observation;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.util.context.Context;

/**
 * Passes an operation's signals on and tells when and how it ended. An operation that failed before
 * anything of it was sent is subscribed to once more, by when the driver has another way for it.
 */
final class MeasuredSubscriber<R> implements CoreSubscriber<R>, Subscription {
  @SuppressWarnings("rawtypes")
  private static final AtomicIntegerFieldUpdater<MeasuredSubscriber> ENDED =
      AtomicIntegerFieldUpdater.newUpdater(MeasuredSubscriber.class, "ended");

  private final OperationRouter router;
  private final Routable<R> operation;
  private final Route route;
  private final @Nullable Deadline deadline;
  private final @Nullable Observation observation;
  private final CoreSubscriber<? super R> actual;
  private final long startNanos = System.nanoTime();
  private volatile @Nullable Subscription upstream;
  private volatile boolean requested;
  private volatile int ended;
  private boolean again;

  /**
   * @param deadline null for none, or one that begins now
   */
  MeasuredSubscriber(
      OperationRouter router,
      Routable<R> operation,
      Route route,
      @Nullable Deadline deadline,
      @Nullable Observation observation,
      CoreSubscriber<? super R> actual) {
    this.router = router;
    this.operation = operation;
    this.route = route;
    this.deadline = deadline == null ? Deadline.in(operation.timeoutMillis()) : deadline;
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
    if (!again) {
      actual.onSubscribe(this);
    } else if (ended != 0) {
      subscription.cancel();
    } else if (requested) {
      // There is one result at the most, so asking for it twice does no harm.
      subscription.request(1);
    }
  }

  @Override
  public void onNext(R result) {
    actual.onNext(result);
  }

  @Override
  public void onError(Throwable failure) {
    if (!again && ended == 0 && operation.isUnsent(failure)) {
      again = true;
      operation.on(route, deadline).subscribe(this);
      return;
    }
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
    requested = true;
    Subscription running = upstream;
    if (running != null) {
      running.request(demand);
    }
  }

  @Override
  public void cancel() {
    end(Outcome.CANCELLED);
    Subscription running = upstream;
    if (running != null) {
      running.cancel();
    }
  }

  /** A cancellation may race with the end. */
  private void end(Outcome outcome) {
    if (!ENDED.compareAndSet(this, 0, 1)) {
      return;
    }
    long now = System.nanoTime();
    router.ended(operation, route, outcome, now - startNanos, now);
    if (observation != null) {
      Observations.end(observation);
    }
  }
}
