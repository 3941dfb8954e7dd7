package dev.onehop.measure.frame;

import dev.onehop.resync.Failure;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The end of a server. It is the cause of other failures, but may be noticed a little later than
 * these.
 */
final class ServerDeath {

  private static final long NOTICE_MILLIS = 1500;

  private final CompletableFuture<String> notice = new CompletableFuture<>();

  /** Records the unexpected end of a server. Callable from any thread. */
  void noticed(String message) {
    boolean unused = notice.complete(message);
  }

  /** The real cause of a failure: the server's end, if there was one. */
  Failure causeOf(Failure failure) {
    try {
      return Failure.run(notice.get(NOTICE_MILLIS, TimeUnit.MILLISECONDS), failure);
    } catch (TimeoutException e) {
      return failure; // no server has ended
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return failure;
    }
  }
}
