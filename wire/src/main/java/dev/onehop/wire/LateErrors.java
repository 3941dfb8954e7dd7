package dev.onehop.wire;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.util.context.Context;

/**
 * Handles errors that come after the end or the cancellation of a publisher, for example when a
 * client is closed while requests are in flight. By default, Reactor logs such errors at error
 * level with a stack trace. The context of a subscriber can set another handler. Thread-safe.
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
   * Adds {@link #LOGGED} to a context, unless the context handles late errors already. Call it in
   * {@code contextWrite} before a cache, because a cache without subscribers has no context that
   * handles late errors.
   */
  public static Context logged(Context context) {
    return context.hasKey(ON_ERROR_DROPPED) ? context : LOGGED.putAll(context.readOnly());
  }
}
