package dev.onehop.copy.verify;

import com.mongodb.MongoClientException;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoSocketException;
import com.mongodb.MongoTimeoutException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** How servers are asked from a thread that waits, and asked again while a primary is missing. */
final class Servers {
  private static final Logger log = LoggerFactory.getLogger(Servers.class);

  private static final Duration ANSWER = Duration.ofMinutes(5);
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(100);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

  // What passes: a server that is not there, or not ready, and cursors that went with it.
  private static final Set<Integer> PASSING =
      Set.of(
          6, 7, 43, 63, 64, 89, 91, 117, 133, 134, 136, 150, 175, 189, 202, 234, 237, 249, 262, 317,
          358, 9001, 10107, 11600, 11602, 13388, 13435, 13436);

  private Servers() {}

  /** Waits for one answer. */
  static <T> @Nullable T one(Publisher<T> answer) {
    return Mono.from(answer).block(ANSWER);
  }

  /** Runs a read again while it fails for reasons that pass, for two minutes at most. */
  static <T> T retrying(Callable<T> read) throws InterruptedException {
    Patience patience = new Patience();
    while (true) {
      try {
        return read.call();
      } catch (RuntimeException e) {
        patience.pauseAfter(e);
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /** Whether a failure is an interruption, which the reactive library and channels wrap. */
  static boolean isInterruption(Throwable failure) {
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause instanceof InterruptedException || cause instanceof ClosedByInterruptException) {
        return true;
      }
    }
    return false;
  }

  private static boolean passes(RuntimeException failure) {
    if (failure instanceof MongoCommandException refused) {
      return PASSING.contains(refused.getErrorCode())
          || refused.hasErrorLabel("RetryableWriteError")
          || refused.hasErrorLabel("NetworkError");
    }
    if (failure instanceof MongoSecurityException || failure instanceof MongoClientException) {
      return failure instanceof MongoTimeoutException;
    }
    return failure instanceof MongoSocketException
        || (failure instanceof MongoException of && PASSING.contains(of.getCode()));
  }

  /** How long failures that pass are put up with. Not thread-safe. */
  static final class Patience {
    private long end;
    private Duration pause = FIRST_PAUSE;
    private boolean failing;

    /** After something was read. */
    void renew() {
      failing = false;
    }

    /**
     * Waits before the next attempt.
     *
     * @throws RuntimeException the failure, if it does not pass or has not for too long
     */
    void pauseAfter(RuntimeException failure) throws InterruptedException {
      if (isInterruption(failure)) {
        throw new InterruptedException();
      }
      if (!failing) {
        failing = true;
        pause = FIRST_PAUSE;
        end = System.nanoTime() + PATIENCE.toNanos();
      }
      if (!passes(failure) || System.nanoTime() - end > 0) {
        throw failure;
      }
      log.debug("reading again", failure);
      Thread.sleep(pause.toMillis());
      Duration twice = pause.multipliedBy(2);
      pause = twice.compareTo(LONGEST_PAUSE) < 0 ? twice : LONGEST_PAUSE;
    }
  }
}
