package dev.onehop.wire.message;

import java.io.IOException;

/** A request was certainly not sent, because there was no connection. */
public class NotSentException extends IOException {
  private static final long serialVersionUID = 1L;

  public NotSentException(String message) {
    super(message);
  }

  private NotSentException(IOException cause) {
    super(cause.getMessage(), cause);
  }

  /**
   * Wraps a failure in this type if it is an {@link IOException}; returns other failures unchanged.
   */
  public static Throwable of(Throwable failure) {
    return failure instanceof IOException cause && !(cause instanceof NotSentException)
        ? new NotSentException(cause)
        : failure;
  }

  /** Whether the cause is a lack of resources in this process, and not the server. */
  public boolean isLocal() {
    return false;
  }

  /** Whether the cause of a failure is a lack of resources in this process. */
  public static boolean isLocal(Throwable failure) {
    return failure instanceof NotSentException unsent && unsent.isLocal();
  }
}
