package dev.onehop.wire.message;

/** A request has waited for a connection longer than its limit. */
public final class PoolWaitException extends NotSentException {
  private static final long serialVersionUID = 1L;

  public PoolWaitException(String message) {
    super(message);
  }

  @Override
  public boolean isLocal() {
    return true;
  }
}
