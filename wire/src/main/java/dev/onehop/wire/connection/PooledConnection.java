package dev.onehop.wire.connection;

import io.netty.channel.EventLoop;
import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A connection in a {@link ServerPool}.
 *
 * <p>Thread-safe.
 */
abstract class PooledConnection {
  private @Nullable Lifetime lifetime;
  private volatile @Nullable Runnable whenClosed;

  /** Called when the pool adds the connection. */
  final void opened(Lifetime from) {
    lifetime = from;
  }

  final Lifetime lifetime() {
    return Objects.requireNonNull(lifetime);
  }

  /** Whether the connection can serve a request. */
  public abstract boolean isOpen();

  /**
   * Sets the action to run when the client or the server closes the connection; runs it at once if
   * the connection is closed already.
   */
  public final void whenClosed(Runnable action) {
    whenClosed = action;
    if (!isOpen()) {
      runWhenClosed();
    }
  }

  /** Runs the action for the close, the first time only. */
  final synchronized void runWhenClosed() {
    Runnable action = whenClosed;
    whenClosed = null;
    if (action != null) {
      action.run();
    }
  }

  /** The number of bytes that the peer has not accepted yet. */
  public abstract long unsentBytes();

  /** Whether a thread of this event loop can use the connection efficiently. */
  abstract boolean isOn(EventLoop loop);

  /** Closes the connection; requests without a reply fail. */
  public abstract void close();

  /** Closes the connection; requests without a reply fail for this reason. */
  public abstract void abort(IOException why);
}
