package dev.onehop.wire.message;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Splits the driver's writes into whole messages. Usually one write is one message, which is
 * returned without a copy; otherwise the parts are combined in a buffer.
 */
public final class MessageAssembly {
  // The limit is above that of servers, so that the server itself refuses a message that is too
  // large.
  private static final int MAX_BYTES = 64_000_000;

  private @Nullable ByteBuf partial;
  private boolean fromPartial;

  /**
   * The next whole message, null if the bytes of a whole message have not arrived. The message
   * stays the next one until {@link #taken}.
   *
   * @throws WireProtocolException if a message has an invalid length
   */
  public @Nullable ByteBuf next(ChannelOutboundBuffer in) {
    while (true) {
      if (partial != null && partial.readableBytes() >= 4) {
        int length = checkedLength(partial);
        if (partial.readableBytes() >= length) {
          fromPartial = true;
          return partial.slice(partial.readerIndex(), length);
        }
      }
      if (!(in.current() instanceof ByteBuf written)) {
        return null;
      }
      if (partial == null
          && written.readableBytes() >= OpMsg.HEADER_BYTES
          && checkedLength(written) == written.readableBytes()) {
        fromPartial = false;
        return written;
      }
      if (partial == null) {
        partial = written.alloc().buffer(written.readableBytes());
      }
      partial.writeBytes(written, written.readerIndex(), written.readableBytes());
      in.remove();
    }
  }

  /** Removes the message that {@link #next} has returned. */
  public void taken(ChannelOutboundBuffer in) {
    if (!fromPartial) {
      in.remove();
      return;
    }
    ByteBuf buffer = partial;
    if (buffer != null) {
      buffer.skipBytes(buffer.getIntLE(buffer.readerIndex()));
      // The rest is copied to a new buffer, because the removed message may still be in use, and
      // later bytes must not overwrite it.
      partial = buffer.isReadable() ? buffer.copy() : null;
      buffer.release();
    }
  }

  /** Releases an incomplete message. */
  public void release() {
    if (partial != null) {
      partial.release();
      partial = null;
    }
  }

  private static int checkedLength(ByteBuf message) {
    int length = message.getIntLE(message.readerIndex());
    if (length < OpMsg.HEADER_BYTES || length > MAX_BYTES) {
      throw new WireProtocolException("a request has an invalid length of " + length + " bytes");
    }
    return length;
  }
}
