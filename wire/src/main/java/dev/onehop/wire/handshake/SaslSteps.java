package dev.onehop.wire.handshake;

/** The client's side of one SASL conversation (RFC 4422). Steps may block. Not thread-safe. */
public interface SaslSteps {
  /**
   * The answer to a challenge.
   *
   * @param challenge empty for the first message
   */
  byte[] next(byte[] challenge) throws Exception;

  /** Whether the client has said all that it has to, and has seen all that the server owes it. */
  boolean isComplete();

  /** Whether a step may take long, and has to stay away from event loops. */
  default boolean mayBlock() {
    return true;
  }

  /** Ends it. */
  default void close() {}

  /** A conversation of one message. */
  static SaslSteps single(byte[] message) {
    return new SaslSteps() {
      private boolean complete;

      @Override
      public byte[] next(byte[] challenge) {
        if (complete) {
          throw new IllegalStateException("the server asks for more than the mechanism has");
        }
        complete = true;
        return message;
      }

      @Override
      public boolean isComplete() {
        return complete;
      }

      @Override
      public boolean mayBlock() {
        return false;
      }
    };
  }
}
