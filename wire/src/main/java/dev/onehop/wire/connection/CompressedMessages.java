package dev.onehop.wire.connection;

import com.github.luben.zstd.ZstdInputStream;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireProtocolException;
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
 * Decompresses OP_COMPRESSED messages.
 *
 * <p>Snappy and zstd need the same libraries as in the driver. This class has no variable and no
 * catch clause with a type of these libraries. Such a variable or catch clause would prevent this
 * class from loading if the library were missing.
 */
final class CompressedMessages {
  /** Op code of a compressed message. */
  static final int OP_COMPRESSED = 2012;

  // Original op code, uncompressed size, compressor id.
  private static final int COMPRESSED_HEADER = 9;
  // A larger size in a header is invalid: no server accepts so large a message.
  private static final int MAX_CLAIMED = 64_000_000;

  private CompressedMessages() {}

  static boolean isCompressed(ByteBuf message) {
    return message.readableBytes() >= OpMsg.HEADER_BYTES
        && message.getIntLE(message.readerIndex() + 12) == OP_COMPRESSED;
  }

  /**
   * Decompresses a whole message. The caller releases the result.
   *
   * @throws WireProtocolException if the message is damaged or its compressor is unknown
   */
  static ByteBuf expandWhole(ByteBuf message) {
    ByteBuf plain = expand(message);
    if (plain == null) {
      throw new WireProtocolException("a compressed message cannot be decompressed");
    }
    return plain;
  }

  private static @Nullable ByteBuf expand(ByteBuf message) {
    int at = message.readerIndex() + OpMsg.HEADER_BYTES;
    if (message.writerIndex() - at < COMPRESSED_HEADER) {
      return null;
    }
    int opCode = message.getIntLE(at);
    int size = message.getIntLE(at + 4);
    if (size < 0 || size > MAX_CLAIMED) {
      return null;
    }
    byte compressor = message.getByte(at + 8);
    ByteBuf content =
        message.slice(at + COMPRESSED_HEADER, message.writerIndex() - at - COMPRESSED_HEADER);
    try {
      byte[] expanded = expand(compressor, content, size);
      if (expanded == null || expanded.length < size) {
        return null;
      }
      ByteBuf plain = Unpooled.buffer(OpMsg.HEADER_BYTES + size);
      plain
          .writeIntLE(OpMsg.HEADER_BYTES + size)
          .writeIntLE(message.getIntLE(message.readerIndex() + 4))
          .writeIntLE(OpMsg.responseTo(message))
          .writeIntLE(opCode);
      return plain.writeBytes(expanded, 0, size);
    } catch (IOException | RuntimeException | LinkageError e) {
      return null;
    }
  }

  /**
   * Decompresses at least the first {@code wanted} bytes, or all if there are fewer; null if the
   * compressor is unknown.
   */
  private static byte @Nullable [] expand(byte compressor, ByteBuf content, int wanted)
      throws IOException {
    return switch (compressor) {
      case 0 -> read(new ByteBufInputStream(content), wanted);
      // Snappy cannot decompress only the beginning of a block.
      case 1 -> Snappy.uncompress(ByteBufUtil.getBytes(content));
      case 2 -> read(new InflaterInputStream(new ByteBufInputStream(content)), wanted);
      case 3 -> ZstdBeginning.read(content, wanted);
      default -> null;
    };
  }

  private static byte[] read(InputStream in, int wanted) throws IOException {
    try (in) {
      return in.readNBytes(wanted);
    }
  }

  /** A separate class, so that the zstd class is loaded only if needed. */
  private static final class ZstdBeginning {
    static byte[] read(ByteBuf content, int wanted) throws IOException {
      return CompressedMessages.read(new ZstdInputStream(new ByteBufInputStream(content)), wanted);
    }
  }
}
