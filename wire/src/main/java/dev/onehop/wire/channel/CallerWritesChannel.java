package dev.onehop.wire.channel;

import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A NIO socket that any thread may write to, without the help of the event loop that reads from it.
 * With Java's channels, several threads may write and close. Netty's native channels do not allow
 * this: a write might use the file descriptor of a closed socket, which may belong to another
 * socket by then.
 */
public class CallerWritesChannel extends NioSocketChannel {
  /**
   * Writes as much as the socket accepts now. The bytes may overtake writes that are pending in
   * Netty.
   *
   * @return the number of bytes written
   */
  public long writeNow(ByteBuffer[] buffers) throws IOException {
    return javaChannel().write(buffers);
  }

  /** Like {@link #writeNow(ByteBuffer[])}, for one buffer. */
  public int writeNow(ByteBuffer buffer) throws IOException {
    return javaChannel().write(buffer);
  }
}
