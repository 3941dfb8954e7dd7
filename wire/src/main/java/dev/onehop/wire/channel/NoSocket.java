package dev.onehop.wire.channel;

import java.net.Socket;

/** Takes the options that the driver sets for a channel without a socket; nothing uses them. */
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
