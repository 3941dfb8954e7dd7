package dev.onehop.wire.connection;

import org.jspecify.annotations.Nullable;

/**
 * Ends a thread's wait, from any thread: a place in a queue, a socket that connects, or a server
 * that does not reply.
 *
 * <p>Thread-safe.
 */
public final class Cancellation {
  private @Nullable Runnable end;
  private boolean aborted;

  /** Sets the action that ends the wait; runs it at once if this was aborted before. */
  synchronized void by(Runnable action) {
    end = action;
    if (aborted) {
      action.run();
    }
  }

  /** Clears the action: there is no wait. The action is not called after this method returns. */
  public synchronized void clear() {
    end = null;
  }

  /** Whether this was aborted. */
  synchronized boolean isAborted() {
    return aborted;
  }

  /** Ends the current wait and all later ones. */
  public synchronized void abort() {
    aborted = true;
    if (end != null) {
      end.run();
    }
  }
}
