package dev.onehop.copy.progress;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if a copy can't begin or can't continue. The message is one sentence for the person who
 * started the copy. It contains no passwords and no documents.
 */
public final class CopyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates an exception without a cause. */
  public CopyException(String message) {
    super(message);
  }

  /** Creates an exception with its cause, null if there is none. */
  public CopyException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
