package dev.onehop.wire.connection;

import io.netty.buffer.ByteBuf;
import java.io.IOException;

/** Receives the reply to a request. Only one of the methods is called, once, on an event loop. */
interface ReplyHandler {
  /**
   * The reply has arrived.
   *
   * @param message the whole message; the caller releases it
   */
  void replied(ByteBuf message);

  /** No reply will arrive; it is unknown whether the request was executed. */
  void failed(IOException cause);
}
