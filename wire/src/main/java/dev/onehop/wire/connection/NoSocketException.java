package dev.onehop.wire.connection;

import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.NotSentException;

/** This process gets no further socket, as when it has no file descriptor left. */
public final class NoSocketException extends NotSentException {
  private static final long serialVersionUID = 1L;

  NoSocketException(ServerAddressName server, Throwable cause) {
    super("cannot connect to " + server + ", no socket: " + root(cause).getMessage());
    initCause(cause);
  }

  /** Netty wraps it more than once. */
  private static Throwable root(Throwable failure) {
    Throwable cause = failure.getCause();
    return cause == null ? failure : root(cause);
  }

  @Override
  public boolean isLocal() {
    return true;
  }
}
