package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.NotSentException;

/**
 * The operating system provides no further socket, for example because no file descriptor is left.
 */
public final class NoSocketException extends NotSentException {
  private static final long serialVersionUID = 1L;

  NoSocketException(ServerAddressName server, Throwable cause) {
    super("cannot connect to " + server + ", no socket: " + root(cause).getMessage());
    initCause(cause);
  }

  /** Returns the innermost cause, because Netty wraps exceptions more than once. */
  private static Throwable root(Throwable failure) {
    Throwable cause = failure.getCause();
    return cause == null ? failure : root(cause);
  }

  @Override
  public boolean isLocal() {
    return true;
  }
}
