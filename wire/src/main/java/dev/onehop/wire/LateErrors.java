package dev.onehop.wire;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.util.context.Context;

/**
 * Errors after the end or the cancellation of a publisher, as when a client is closed while
 * requests are in flight. By default Reactor logs them at error level with a stack trace; the
 * context of a subscriber can change it. Thread-safe.
 */
public final class LateErrors {
  // Reactor prefers this key to its global hook.
  private static final String ON_ERROR_DROPPED = "reactor.onErrorDropped.local";

  private static final Logger log = LoggerFactory.getLogger(LateErrors.class);

  /** The context of a subscriber whose late errors are logged at debug level. */
  public static final Context LOGGED = to(LateErrors::log);

  private LateErrors() {}

  private static void log(Throwable failure) {
    log.debug("an error after the end of the subscription", failure);
  }

  /** The context of a subscriber whose late errors go to the consumer. */
  public static Context to(Consumer<Throwable> consumer) {
    return Context.of(ON_ERROR_DROPPED, consumer);
  }

  /**
   * For {@code contextWrite} before a cache, which has no context once all its subscribers have
   * left: late errors are logged at debug level, unless a subscriber downstream handles them.
   */
  public static Context logged(Context context) {
    return context.hasKey(ON_ERROR_DROPPED) ? context : LOGGED.putAll(context.readOnly());
  }
}
