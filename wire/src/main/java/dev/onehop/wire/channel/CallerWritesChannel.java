package dev.onehop.wire.channel;

import io.netty.channel.socket.nio.NioSocketChannel;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A socket of Java's NIO that any thread may write to, past the event loop that reads from it.
 * Java's channels can be written to and closed by several threads; Netty's native ones can't, as a
 * write might meet a descriptor that another socket has by then.
 */
public class CallerWritesChannel extends NioSocketChannel {
  /**
   * Writes as much as the socket takes at once. Not in order with what Netty has still to write.
   *
   * @return how many bytes
   */
  public long writeNow(ByteBuffer[] buffers) throws IOException {
    return javaChannel().write(buffers);
  }

  /** The same of one buffer. */
  public int writeNow(ByteBuffer buffer) throws IOException {
    return javaChannel().write(buffer);
  }
}
