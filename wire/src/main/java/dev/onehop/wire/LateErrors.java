package dev.onehop.wire;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.util.context.Context;

/**
 * Errors that come after a publisher has ended or was cancelled, as when a client is closed while
 * requests are in flight. Reactor logs them as errors, with a stack trace, unless the subscriber's
 * own context says otherwise. Thread-safe.
 */
public final class LateErrors {
  // Reactor looks for this key before it takes the hook that is the same for all.
  private static final String ON_ERROR_DROPPED = "reactor.onErrorDropped.local";

  private static final Logger log = LoggerFactory.getLogger(LateErrors.class);

  /** The context of a subscriber whose late errors are logged at debug level. */
  public static final Context LOGGED = to(LateErrors::log);

  private LateErrors() {}

  private static void log(Throwable failure) {
    log.debug("an error that came too late", failure);
  }

  /** The context of a subscriber whose late errors go to the consumer. */
  public static Context to(Consumer<Throwable> consumer) {
    return Context.of(ON_ERROR_DROPPED, consumer);
  }

  /**
   * For {@code contextWrite} before a cache, which has no context once all its subscribers are
   * gone: late errors are logged at debug level, unless a subscriber downstream takes them.
   */
  public static Context logged(Context context) {
    return context.hasKey(ON_ERROR_DROPPED) ? context : LOGGED.putAll(context.readOnly());
  }
}
