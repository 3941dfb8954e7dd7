package dev.onehop.wire.handshake;

/** The client's side of one SASL conversation (RFC 4422). Steps may block. Not thread-safe. */
public interface SaslSteps {
  /**
   * Returns the answer to a challenge.
   *
   * @param challenge empty for the first message
   */
  byte[] next(byte[] challenge) throws Exception;

  /** Whether the client has sent all its messages and has verified the server. */
  boolean isComplete();

  /** Whether a step may block, so that it must not run on an event loop. */
  default boolean mayBlock() {
    return true;
  }

  /** Ends the conversation. */
  default void close() {}

  /** A conversation with one message. */
  static SaslSteps single(byte[] message) {
    return new SaslSteps() {
      private boolean complete;

      @Override
      public byte[] next(byte[] challenge) {
        if (complete) {
          throw new IllegalStateException("the server sent an unexpected challenge");
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
