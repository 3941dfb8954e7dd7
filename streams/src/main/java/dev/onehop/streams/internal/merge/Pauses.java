package dev.onehop.streams.internal.merge;

import java.time.Duration;
import java.util.function.Predicate;
import reactor.util.retry.Retry;
import reactor.util.retry.RetryBackoffSpec;

/** The pauses before retries. */
public final class Pauses {
  private static final Duration FIRST = Duration.ofMillis(100);
  private static final Duration LONGEST = Duration.ofSeconds(2);

  private Pauses() {}

  /**
   * The pause after a number of failures in a row. It doubles with each failure, up to two seconds.
   *
   * @param failures the number of failures, at least 1
   */
  static Duration after(int failures) {
    Duration pause = FIRST.multipliedBy(1L << Math.min(failures - 1, 10));
    return pause.compareTo(LONGEST) < 0 ? pause : LONGEST;
  }

  /** Retries after these failures, without a limit. */
  public static RetryBackoffSpec whenever(Predicate<? super Throwable> passing) {
    return Retry.backoff(Long.MAX_VALUE, FIRST).maxBackoff(LONGEST).filter(passing);
  }
}
