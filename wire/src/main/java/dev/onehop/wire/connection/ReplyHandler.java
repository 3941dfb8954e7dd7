package dev.onehop.wire.connection;

import io.netty.buffer.ByteBuf;
import java.io.IOException;

/** Waits for the answer to a request; one of the methods is called, once, on an event loop. */
interface ReplyHandler {
  /**
   * The answer came.
   *
   * @param message the whole message; the caller releases it
   */
  void replied(ByteBuf message);

  /** No answer will come; whether the request was carried out is not known. */
  void failed(IOException cause);
}
