package dev.onehop.core.bson;

/**
 * Bytes that are not valid BSON, or not a valid {@link SortableKey}; the message contains the
 * reason and the position.
 */
public final class MalformedBsonException extends IllegalArgumentException {
  private static final long serialVersionUID = 1;

  MalformedBsonException(String message) {
    super(message);
  }

  MalformedBsonException(String message, Throwable cause) {
    super(message, cause);
  }
}
