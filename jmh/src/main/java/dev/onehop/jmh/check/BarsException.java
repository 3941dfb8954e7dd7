package dev.onehop.jmh.check;

import org.jspecify.annotations.Nullable;

/** A file of bars that can't be used; the message says which and where. */
final class BarsException extends RuntimeException {
  private static final long serialVersionUID = 1;

  BarsException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
