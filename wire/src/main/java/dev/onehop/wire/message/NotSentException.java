package dev.onehop.wire.message;

import java.io.IOException;

/** A request was certainly not sent, for there was no connection to be had. */
public class NotSentException extends IOException {
  private static final long serialVersionUID = 1L;

  public NotSentException(String message) {
    super(message);
  }

  private NotSentException(IOException cause) {
    super(cause.getMessage(), cause);
  }

  /** The failure as one of this kind, if it is an {@link IOException}. */
  public static Throwable of(Throwable failure) {
    return failure instanceof IOException cause && !(cause instanceof NotSentException)
        ? new NotSentException(cause)
        : failure;
  }

  /** Whether this process lacks something. That says nothing against the server. */
  public boolean isLocal() {
    return false;
  }

  /** Whether a failure is one of this process, which lacks something. */
  public static boolean isLocal(Throwable failure) {
    return failure instanceof NotSentException unsent && unsent.isLocal();
  }
}
