package dev.onehop.wire.message;

/** A peer sent bytes that are not the MongoDB wire protocol, or an unsupported form of it. */
public final class WireProtocolException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public WireProtocolException(String message) {
    super(message);
  }
}
