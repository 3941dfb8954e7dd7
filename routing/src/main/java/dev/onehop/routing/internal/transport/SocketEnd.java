package dev.onehop.routing.internal.transport;

import io.netty.buffer.ByteBuf;

/** The network's side of a socket. Called on the socket's event loop only. */
interface SocketEnd {
  /** Sends a whole message and releases it. */
  void write(ByteBuf message);

  /** Whether little enough is waiting to be sent that more may be added. */
  boolean isWritable();

  /** Bytes that wait for the peer to read. */
  long pendingBytes();

  void close();
}
