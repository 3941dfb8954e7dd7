package dev.onehop.wire.connection;

import io.netty.channel.EventLoop;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A connection as its {@link ServerPool} sees it.
 *
 * <p>Thread-safe.
 */
abstract class PooledConnection {
  private @Nullable Lifetime lifetime;
  private volatile @Nullable Runnable whenClosed;

  /** The pool has it from now on. */
  final void opened(Lifetime from) {
    lifetime = from;
  }

  final Lifetime lifetime() {
    return Objects.requireNonNull(lifetime);
  }

  /** Whether it can take a request. */
  public abstract boolean isOpen();

  /** What to do when it is closed, by whichever side; at once if it is already. */
  public final void whenClosed(Runnable action) {
    whenClosed = action;
    if (!isOpen()) {
      runWhenClosed();
    }
  }

  /** Does what is to be done when it is closed, the first time. */
  final synchronized void runWhenClosed() {
    Runnable action = whenClosed;
    whenClosed = null;
    if (action != null) {
      action.run();
    }
  }

  /** The bytes that the peer has not taken yet. */
  public abstract long unsentBytes();

  /** Whether a thread of this event loop is a good one to use it. */
  abstract boolean isOn(EventLoop loop);

  /** Closes it; requests that are not answered fail. */
  public abstract void close();

  /** The same, and requests fail for this reason. */
  public abstract void abort(IOException why);
}
