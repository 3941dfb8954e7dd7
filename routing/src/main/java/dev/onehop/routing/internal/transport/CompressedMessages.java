package dev.onehop.routing.internal.transport;

import com.github.luben.zstd.Zstd;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufInputStream;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.InflaterInputStream;
import org.jspecify.annotations.Nullable;
import org.xerial.snappy.Snappy;

/**
 * Looks into OP_COMPRESSED requests: which command it is decides where it may go. The request
 * itself is passed on as it came.
 *
 * <p>Snappy and zstd need the libraries that the driver itself needs for them. They are called by
 * static methods only: a variable or a catch of one of their types would keep this class from
 * loading where they are missing.
 */
final class CompressedMessages {
  // Original op code, uncompressed size, compressor id.
  private static final int COMPRESSED_HEADER = 9;
  // What is longer has a socket of its own whatever it says.
  private static final int MAX_EXPANDED = 1 << 20;

  private CompressedMessages() {}

  /**
   * The message as it was before compression, header included; null if it is too large to look at,
   * damaged, or of an unknown compressor. The caller releases it.
   */
  static @Nullable ByteBuf expand(ByteBuf message) {
    int at = message.readerIndex() + MessageHeader.BYTES;
    if (message.writerIndex() - at < COMPRESSED_HEADER) {
      return null;
    }
    int opCode = message.getIntLE(at);
    int size = message.getIntLE(at + 4);
    if (size < 0 || size > MAX_EXPANDED) {
      return null;
    }
    byte compressor = message.getByte(at + 8);
    ByteBuf content =
        message.slice(at + COMPRESSED_HEADER, message.writerIndex() - at - COMPRESSED_HEADER);
    try {
      byte[] expanded = expand(compressor, content, size);
      if (expanded == null) {
        return null;
      }
      ByteBuf plain = Unpooled.buffer(MessageHeader.BYTES + expanded.length);
      plain
          .writeIntLE(MessageHeader.BYTES + expanded.length)
          .writeIntLE(MessageHeader.requestId(message))
          .writeIntLE(MessageHeader.responseTo(message))
          .writeIntLE(opCode);
      return plain.writeBytes(expanded);
    } catch (IOException | RuntimeException | LinkageError e) {
      return null;
    }
  }

  private static byte @Nullable [] expand(byte compressor, ByteBuf content, int size)
      throws IOException {
    return switch (compressor) {
      case 0 -> ByteBufUtil.getBytes(content);
      case 1 -> Snappy.uncompress(ByteBufUtil.getBytes(content));
      case 2 -> readFully(new InflaterInputStream(new ByteBufInputStream(content)), size);
      case 3 -> Zstd.decompress(ByteBufUtil.getBytes(content), size);
      default -> null;
    };
  }

  private static byte[] readFully(InputStream in, int size) throws IOException {
    try (in) {
      return in.readNBytes(size);
    }
  }
}
