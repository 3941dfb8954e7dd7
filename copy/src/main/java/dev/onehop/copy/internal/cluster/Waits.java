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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** Waits for replies and repeats steps after transient failures, in the threads of a copy. */
public final class Waits {
  private static final Logger log = LoggerFactory.getLogger(Waits.class);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(50);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(2);
  private static final int QUIET_TRIES = 4;
  static final Duration FOREVER = Duration.ofDays(10_000);

  // Transient errors: the server is down, not ready or short of cache, the cursor is lost, or the
  // metadata have changed.
  private static final Set<Integer> PASSING =
      Set.of(
          6, 7, 43, 63, 64, 70, 82, 89, 91, 112, 117, 133, 134, 136, 150, 175, 189, 202, 234, 237,
          249, 262, 317, 358, 9001, 10107, 11600, 11601, 11602, 13388, 13435, 13436, 388, -31_800);
  private static final String RETRYABLE = "RetryableWriteError";

  private Waits() {}

  /**
   * Waits for the first value of a publisher, or throws its failure. An interruption of the thread
   * cancels the publisher.
   *
   * @return the value; null if the publisher completes without a value
   */
  public static <T> @Nullable T first(Publisher<T> publisher) throws InterruptedException {
    CompletableFuture<@Nullable T> future = Mono.from(publisher).toFuture();
    try {
      return future.get();
    } catch (InterruptedException e) {
      future.cancel(true);
      throw e;
    } catch (ExecutionException e) {
      throw cause(e);
    }
  }

  /** Converts the failure of a task in another thread to an exception for this thread. */
  public static RuntimeException cause(ExecutionException failed) throws InterruptedException {
    Throwable cause = failed.getCause();
    if (cause instanceof InterruptedException interrupted) {
      throw interrupted;
    }
    if (cause instanceof Error error) {
      throw error;
    }
    return cause instanceof RuntimeException failure ? failure : new IllegalStateException(cause);
  }

  /** Waits for the first value of a publisher that must have a value. */
  public static <T> T one(Publisher<T> publisher) throws InterruptedException {
    T value = first(publisher);
    if (value == null) {
      throw new IllegalStateException("a server has returned no value");
    }
    return value;
  }

  /** A step that sends commands to servers. */
  @FunctionalInterface
  public interface Step<T extends @Nullable Object> {
    /** Runs the step. A retry runs it again, so it must be safe to repeat. */
    T run() throws InterruptedException;
  }

  /**
   * Repeats a step until it succeeds or fails permanently. Transient failures, such as unreachable
   * servers, are retried without a time limit.
   *
   * @param what the words with which log messages begin
   */
  public static <T extends @Nullable Object> T persistently(String what, Step<T> step)
      throws InterruptedException {
    return persistently(new Patience(what, FOREVER), step);
  }

  /** Repeats a step until it succeeds, fails permanently, or the time limit has passed. */
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

  /** A time limit for the retries of transient failures. Not thread-safe. */
  public static final class Patience {
    private final String what;
    private final Duration longest;
    private long since;
    private int tries;

    /**
     * @param what the words with which log messages begin
     * @param longest the time limit, counted from the first failure
     */
    public Patience(String what, Duration longest) {
      this.what = what;
      this.longest = longest;
    }

    /** Called after a success. The time limit counts again from the next failure. */
    public void renew() {
      tries = 0;
    }

    /**
     * Waits before the next attempt. The pause grows with each attempt.
     *
     * @throws RuntimeException the failure, if it is permanent or if the time limit has passed
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

  /**
   * Whether an interruption of the thread has caused a failure. Reactor and Java's channels wrap
   * interruptions in other exceptions.
   */
  public static boolean isInterruption(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof InterruptedException || cause instanceof ClosedByInterruptException) {
        return true;
      }
    }
    return false;
  }

  /**
   * Waits after a failure. The pause grows with each attempt.
   *
   * @param tries the number of failed attempts, from 1
   */
  public static void pause(String what, Throwable failure, int tries) throws InterruptedException {
    if (tries == QUIET_TRIES) {
      log.warn("{}: {}; retrying", what, reason(failure));
    }
    Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(tries - 1, 10));
    Thread.sleep((pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE).toMillis());
  }

  /**
   * Retries a publisher without a time limit.
   *
   * @param passing whether a failure is transient, so that a retry may succeed
   */
  public static Retry retry(Predicate<Throwable> passing) {
    return Retry.backoff(Long.MAX_VALUE, Duration.ofMillis(10))
        .maxBackoff(Duration.ofSeconds(1))
        .filter(passing)
        .doBeforeRetry(signal -> log.debug("retrying: {}", reason(signal.failure())));
  }

  /** Whether a failure is transient: a retry of an idempotent operation may succeed. */
  public static boolean isPassing(Throwable failure) {
    Throwable cause = failure.getCause();
    if (failure instanceof CommandFailure refused) {
      return PASSING.contains(refused.code());
    }
    if (failure instanceof MongoException known) {
      return known instanceof MongoSocketException
          || known instanceof MongoTimeoutException
          // The driver clears the pool when it loses a connection to the server. Operations that
          // wait for a connection then fail with this exception.
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

  /** The first line of a failure's message, or the name of its class. */
  public static String reason(Throwable failure) {
    String message = failure.getMessage();
    return message == null || message.isBlank()
        ? failure.getClass().getSimpleName()
        : message.lines().findFirst().orElse("").strip();
  }
}
