package dev.onehop.wire.message;

/** A peer sent bytes that are not the MongoDB wire protocol, or a form of it not spoken here. */
public final class WireProtocolException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WireProtocolException(String message) {
    super(message);
  }
}
