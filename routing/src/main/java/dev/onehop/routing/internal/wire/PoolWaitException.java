package dev.onehop.routing.internal.wire;

import java.io.IOException;

/** A request has waited for a connection for too long. That says nothing against the server. */
public final class PoolWaitException extends IOException {
  private static final long serialVersionUID = 1L;

  PoolWaitException(String message) {
    super(message);
  }
}
