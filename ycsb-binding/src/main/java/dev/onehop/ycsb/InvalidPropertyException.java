package dev.onehop.ycsb;

/** A property has an invalid value; the message is one line with the property's name. */
final class InvalidPropertyException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  InvalidPropertyException(String message) {
    super(message);
  }

  InvalidPropertyException(String message, Throwable cause) {
    super(message, cause);
  }
}
