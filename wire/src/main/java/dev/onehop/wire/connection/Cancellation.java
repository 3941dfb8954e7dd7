package dev.onehop.wire.connection;

import org.jspecify.annotations.Nullable;

/**
 * Ends the wait of a thread, from any thread. The thread may wait in a queue, for a socket to
 * connect, or for a reply.
 *
 * <p>Thread-safe.
 */
public final class Cancellation {
  private @Nullable Runnable end;
  private boolean aborted;

  /** Sets the action that ends the wait; runs it at once if {@link #abort} was called before. */
  synchronized void by(Runnable action) {
    end = action;
    if (aborted) {
      action.run();
    }
  }

  /**
   * Clears the action, because the wait is over. The action is not called after this method
   * returns.
   */
  public synchronized void clear() {
    end = null;
  }

  /** Whether {@link #abort} was called. */
  synchronized boolean isAborted() {
    return aborted;
  }

  /** Ends the current wait and all later waits. */
  public synchronized void abort() {
    aborted = true;
    if (end != null) {
      end.run();
    }
  }
}
