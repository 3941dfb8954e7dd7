package dev.onehop.wire.message;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelOutboundBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Cuts what the driver writes into whole messages. Usually one write is one message, which is
 * passed on as it is; anything else is put together in a buffer.
 */
public final class MessageAssembly {
  // Largest message that a server accepts, with room for one that it will refuse.
  private static final int MAX_BYTES = 64_000_000;

  private @Nullable ByteBuf partial;
  private boolean fromPartial;

  /**
   * The next whole message, null if more has to be written first. It stays what it is until {@link
   * #taken}.
   *
   * @throws WireProtocolException if the length that a message claims is impossible
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

  /** The message that {@link #next} gave was taken over. */
  public void taken(ChannelOutboundBuffer in) {
    if (!fromPartial) {
      in.remove();
      return;
    }
    ByteBuf buffer = partial;
    if (buffer != null) {
      buffer.skipBytes(buffer.getIntLE(buffer.readerIndex()));
      // What was taken may still be in use: never write over it.
      partial = buffer.isReadable() ? buffer.copy() : null;
      buffer.release();
    }
  }

  /** Lets go of what is not whole yet. */
  public void release() {
    if (partial != null) {
      partial.release();
      partial = null;
    }
  }

  private static int checkedLength(ByteBuf message) {
    int length = message.getIntLE(message.readerIndex());
    if (length < OpMsg.HEADER_BYTES || length > MAX_BYTES) {
      throw new WireProtocolException("a request claims to be " + length + " bytes long");
    }
    return length;
  }
}
