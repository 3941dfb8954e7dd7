package dev.onehop.streams.internal.merge;

/** Why a stream could not be read. */
public final class ReadFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Kind kind;

  /** What to do about it. */
  public enum Kind {
    /** Open the stream again: the server is gone, or is another one now. */
    PASSING,
    /** The events are no longer there. */
    HISTORY_LOST,
    /** An event can't be sent. */
    TOO_LARGE,
    /** Nothing. */
    FINAL
  }

  /**
   * @param cause what the subscriber gets if it is final
   */
  public ReadFailure(Kind kind, Throwable cause) {
    super(cause.getMessage(), cause);
    this.kind = kind;
  }

  public Kind kind() {
    return kind;
  }

  @Override
  public synchronized Throwable getCause() {
    return java.util.Objects.requireNonNull(super.getCause());
  }
}
