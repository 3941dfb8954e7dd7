package dev.onehop.streams.internal.merge;

/** The reason why a stream could not be read. */
public final class ReadFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final Kind kind;

  /** The reaction to a failure. */
  public enum Kind {
    /** Transient: the server is unreachable or was replaced. The stream is opened again. */
    PASSING,
    /** The next events are no longer in the oplog. */
    HISTORY_LOST,
    /** An event is too large for the server to send. */
    TOO_LARGE,
    /** Final: the stream fails. */
    FINAL
  }

  /**
   * @param cause the error that the subscriber receives if the failure is final
   */
  public ReadFailure(Kind kind, Throwable cause) {
    super(cause.getMessage(), cause);
    this.kind = kind;
  }

  /** Whether a failure is transient. */
  static boolean isPassing(Throwable failure) {
    return failure instanceof ReadFailure known && known.kind() == Kind.PASSING;
  }

  /** The error that the subscriber receives. */
  public static Throwable cause(Throwable failure) {
    return failure instanceof ReadFailure known ? known.getCause() : failure;
  }

  public Kind kind() {
    return kind;
  }

  @Override
  public synchronized Throwable getCause() {
    return java.util.Objects.requireNonNull(super.getCause());
  }
}
