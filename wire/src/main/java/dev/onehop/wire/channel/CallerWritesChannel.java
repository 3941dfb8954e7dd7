package dev.onehop.wire.channel;

import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A NIO socket that any thread may write to, without the event loop that reads from it. Several
 * threads can write to and close Java's channels. Netty's native channels do not allow it: a write
 * might use a descriptor that belongs to another socket by then.
 */
public class CallerWritesChannel extends NioSocketChannel {
  /**
   * Writes as much as the socket accepts now. Not ordered with writes that are pending in Netty.
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
