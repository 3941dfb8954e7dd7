package dev.onehop.routing.internal.reactor;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.util.context.Context;

/**
 * Errors that come after a publisher has ended or was cancelled, as when a client is closed while
 * requests are in flight. Reactor logs them as errors, with a stack trace, unless the subscriber's
 * context says otherwise; here they are logged at debug level. Thread-safe.
 */
public final class LateErrors {
  // Reactor looks for this key before it takes the hook that is the same for all.
  private static final String ON_ERROR_DROPPED = "reactor.onErrorDropped.local";

  private static final Logger log = LoggerFactory.getLogger(LateErrors.class);

  private LateErrors() {}

  /** For {@code contextWrite}: what subscribes upstream logs late errors at debug level. */
  public static Context logged(Context context) {
    return to(LateErrors::log, context);
  }

  private static void log(Throwable failure) {
    log.debug("an error that came too late", failure);
  }

  /** For {@code contextWrite}: what subscribes upstream hands late errors to the consumer. */
  public static Context to(Consumer<Throwable> consumer, Context context) {
    return context.put(ON_ERROR_DROPPED, consumer);
  }
}
