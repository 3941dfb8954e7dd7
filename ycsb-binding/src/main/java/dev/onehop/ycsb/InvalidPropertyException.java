package dev.onehop.ycsb;

/** A property that this binding can't take; the message is one line that names it. */
final class InvalidPropertyException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  InvalidPropertyException(String message) {
    super(message);
  }

  InvalidPropertyException(String message, Throwable cause) {
    super(message, cause);
  }
}
