package dev.onehop.copy.progress;

import org.jspecify.annotations.Nullable;

/**
 * A copy that can't begin or can't go on, in one sentence for the person who started it. It holds
 * no passwords and no documents.
 */
public final class CopyException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** With the failure behind it, null if there is none. */
  public CopyException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
