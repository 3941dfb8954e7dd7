package dev.onehop.copy.internal.cluster;

import com.mongodb.MongoConnectionPoolClearedException;
import com.mongodb.MongoException;
import com.mongodb.MongoNodeIsRecoveringException;
import com.mongodb.MongoNotPrimaryException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoTimeoutException;
import dev.onehop.wire.message.CommandFailure;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** Waits for servers, in the threads of a copy. */
public final class Waits {
  private static final Logger log = LoggerFactory.getLogger(Waits.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);
  private static final int QUIET_TRIES = 4;
  static final Duration FOREVER = Duration.ofDays(10_000);

  // What says that a server is not there or not ready, or has no room in its cache for now, that a
  // cursor is gone with what it read, or that the metadata have changed.
  private static final Set<Integer> PASSING =
      Set.of(
          6, 7, 43, 63, 64, 70, 82, 89, 91, 112, 117, 133, 134, 136, 150, 175, 189, 202, 234, 237,
          249, 262, 317, 358, 9001, 10107, 11600, 11601, 11602, 13388, 13435, 13436, 388, -31_800);
  private static final String RETRYABLE = "RetryableWriteError";

  private Waits() {}

  /**
   * The first value; its failure is thrown. When the thread is interrupted, the publisher is
   * cancelled.
   *
   * @return null if there is none
   */
  public static <T> @Nullable T first(Publisher<T> publisher) throws InterruptedException {
    CompletableFuture<@Nullable T> future = Mono.from(publisher).toFuture();
    try {
      return future.get();
    } catch (InterruptedException e) {
      future.cancel(true);
      throw e;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  /** The first value, of a publisher that has one. */
  public static <T> T one(Publisher<T> publisher) throws InterruptedException {
    T value = first(publisher);
    if (value == null) {
      throw new IllegalStateException("nothing came");
    }
    return value;
  }

  /** What servers do for a copy. */
  @FunctionalInterface
  public interface Step<T extends @Nullable Object> {
    /** Does it; it can be done twice. */
    T run() throws InterruptedException;
  }

  /**
   * Does something until it succeeds or fails for good. As long as servers can't be reached or are
   * being replaced, it waits.
   *
   * @param what it is, for the log
   */
  public static <T extends @Nullable Object> T persistently(String what, Step<T> step)
      throws InterruptedException {
    return persistently(new Patience(what, FOREVER), step);
  }

  /** The same, as long as the patience lasts. */
  public static <T extends @Nullable Object> T persistently(Patience patience, Step<T> step)
      throws InterruptedException {
    while (true) {
      try {
        return step.run();
      } catch (RuntimeException failure) {
        patience.pauseAfter(failure);
      }
    }
  }

  /** How long failures that pass are accepted. Not thread-safe. */
  public static final class Patience {
    private final String what;
    private final Duration longest;
    private long since;
    private int tries;

    /**
     * @param what fails, for the log
     * @param longest from the first failure on
     */
    public Patience(String what, Duration longest) {
      this.what = what;
      this.longest = longest;
    }

    /** Starts again, after a success. */
    public void renew() {
      tries = 0;
    }

    /**
     * Waits before the next attempt, the longer the more often.
     *
     * @throws RuntimeException the failure, if it does not pass or has not for too long
     */
    public void pauseAfter(RuntimeException failure) throws InterruptedException {
      if (isInterruption(failure)) {
        throw new InterruptedException();
      }
      long now = System.nanoTime();
      since = tries == 0 ? now : since;
      if (!isPassing(failure) || now - since > longest.toNanos()) {
        throw failure;
      }
      pause(what, failure, ++tries);
    }
  }

  /** Whether a failure is an interruption, which the reactive library and channels wrap. */
  public static boolean isInterruption(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof InterruptedException || cause instanceof ClosedByInterruptException) {
        return true;
      }
    }
    return false;
  }

  /**
   * Waits a while after a failure, the longer the more often.
   *
   * @param tries from 1
   */
  public static void pause(String what, Throwable failure, int tries) throws InterruptedException {
    if (tries == QUIET_TRIES) {
      log.warn("{}: {}; tries on", what, reason(failure));
    }
    Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(tries - 1, 10));
    Thread.sleep((pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE).toMillis());
  }

  /** Whether it may be done again with success, when it can be done twice. */
  public static boolean isPassing(Throwable failure) {
    Throwable cause = failure.getCause();
    if (failure instanceof CommandFailure refused) {
      return PASSING.contains(refused.code());
    }
    if (failure instanceof MongoException known) {
      return known instanceof MongoSocketException
          || known instanceof MongoTimeoutException
          // Of those that wait for a connection when another one is lost.
          || known instanceof MongoConnectionPoolClearedException
          || known instanceof MongoNotPrimaryException
          || known instanceof MongoNodeIsRecoveringException
          || known.hasErrorLabel(RETRYABLE)
          || known.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL)
          || PASSING.contains(known.getCode());
    }
    return failure instanceof IOException
        || failure instanceof TimeoutException
        || (cause != null && isPassing(cause));
  }

  /** What a failure says, in one line. */
  public static String reason(Throwable failure) {
    String message = failure.getMessage();
    return message == null || message.isBlank()
        ? failure.getClass().getSimpleName()
        : message.lines().findFirst().orElse("").strip();
  }
}
