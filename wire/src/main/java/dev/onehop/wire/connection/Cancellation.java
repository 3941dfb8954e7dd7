package dev.onehop.wire.connection;

import org.jspecify.annotations.Nullable;

/**
 * Ends, from any thread, what one thread waits for: its place in a line, a socket that connects, a
 * server that does not answer.
 *
 * <p>Thread-safe.
 */
public final class Cancellation {
  private @Nullable Runnable end;
  private boolean aborted;

  /** What ends the waiting from now on; at once if it was aborted before. */
  synchronized void by(Runnable action) {
    end = action;
    if (aborted) {
      action.run();
    }
  }

  /** Nothing waits any more. What was used is not touched after that. */
  public synchronized void clear() {
    end = null;
  }

  /** Whether it was ended. */
  synchronized boolean isAborted() {
    return aborted;
  }

  /** Ends the waiting, and all that would begin later. */
  public synchronized void abort() {
    aborted = true;
    if (end != null) {
      end.run();
    }
  }
}
