package dev.onehop.wire.connection;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** An open, authenticated connection, as {@link SharedConnection} uses it. */
interface SharedTransport {
  /**
   * Sends a request.
   *
   * @param message the whole message, taken over
   * @param handler told of the outcome, in the order of the requests; null if the request expects
   *     no answer
   */
  void send(ByteBuf message, @Nullable ReplyHandler handler);

  boolean isOpen();

  /** Whether more can be written without piling up in memory. */
  boolean isWritable();

  /** The bytes that the peer has not taken yet. */
  long unsentBytes();

  /** Whether it is authenticated, so that the server may ask for that again. */
  boolean authenticates();

  /** What to do when it is closed, by whichever side; at once if it is already. */
  void whenClosed(Runnable action);

  /** What to do when it is writable again. */
  void whenWritable(Runnable action);

  /** Closes it; requests that are not answered fail. */
  void close();

  /** The same, and requests fail for this reason. */
  void abort(IOException why);
}
