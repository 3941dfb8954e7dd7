package dev.onehop.wire.channel;

import java.net.Socket;

/** Accepts the socket options of the driver for a channel without a socket; they have no effect. */
final class NoSocket extends Socket {
  @Override
  public void setTcpNoDelay(boolean on) {}

  @Override
  public void setKeepAlive(boolean on) {}

  @Override
  public void setReceiveBufferSize(int bytes) {}

  @Override
  public void setSendBufferSize(int bytes) {}
}
