package dev.onehop.wire.connection;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** An open, authenticated connection for a {@link SharedConnection}. */
interface SharedTransport {
  /**
   * Sends a request.
   *
   * @param message the whole message; released by the connection
   * @param handler receives the outcome, in the order of the requests; null for an unacknowledged
   *     request
   */
  void send(ByteBuf message, @Nullable ReplyHandler handler);

  boolean isOpen();

  /** Whether the socket accepts more bytes, so that writes do not accumulate in memory. */
  boolean isWritable();

  /** The number of bytes that the peer has not accepted yet. */
  long unsentBytes();

  /**
   * Whether the connection is authenticated. The server may require an authenticated connection to
   * authenticate again.
   */
  boolean authenticates();

  /**
   * Sets the action to run when the client or the server closes the connection; runs it at once if
   * the connection is closed already.
   */
  void whenClosed(Runnable action);

  /** Sets the action to run when the connection is writable again. */
  void whenWritable(Runnable action);

  /** Closes the connection; requests without a reply fail. */
  void close();

  /** Closes the connection; requests without a reply fail for this reason. */
  void abort(IOException why);
}
