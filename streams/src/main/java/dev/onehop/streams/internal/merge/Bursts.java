package dev.onehop.streams.internal.merge;

import org.reactivestreams.Subscription;

/**
 * A subscription that reports the end of each burst of events. The subscriber can then pass the
 * events of a burst on together. Waking another thread for each event would take more time than the
 * event itself.
 */
public interface Bursts extends Subscription {

  /**
   * Sets the task that runs after the last event of each burst, and before {@code onComplete}. The
   * subscriber calls this method in {@code onSubscribe}.
   */
  void afterBurst(Runnable task);
}
