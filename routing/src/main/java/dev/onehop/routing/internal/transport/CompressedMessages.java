package dev.onehop.routing.internal.transport;

import com.github.luben.zstd.ZstdInputStream;
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
 * <p>Snappy and zstd need the libraries that the driver itself needs for them. A variable or a
 * catch of one of their types would keep this class from loading where they are missing.
 */
final class CompressedMessages {
  // Original op code, uncompressed size, compressor id.
  private static final int COMPRESSED_HEADER = 9;
  // What is longer does not share a socket: its flags and its name are enough.
  private static final int MAX_WHOLE = 1 << 20;
  private static final int BEGINNING = 1 << 16;
  // Larger than any message that a server takes.
  private static final int MAX_CLAIMED = 64_000_000;

  private CompressedMessages() {}

  /**
   * The message as it was before compression, header included, and of a large one the beginning;
   * null if it is damaged or of an unknown compressor. The caller releases it.
   */
  static @Nullable ByteBuf expand(ByteBuf message) {
    int at = message.readerIndex() + MessageHeader.BYTES;
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
      int wanted = size > MAX_WHOLE ? BEGINNING : size;
      byte[] expanded = expand(compressor, content, wanted);
      if (expanded == null || expanded.length < wanted) {
        return null;
      }
      ByteBuf plain = Unpooled.buffer(MessageHeader.BYTES + wanted);
      plain
          .writeIntLE(MessageHeader.BYTES + size)
          .writeIntLE(MessageHeader.requestId(message))
          .writeIntLE(MessageHeader.responseTo(message))
          .writeIntLE(opCode);
      return plain.writeBytes(expanded, 0, wanted);
    } catch (IOException | RuntimeException | LinkageError e) {
      return null;
    }
  }

  /** At least the first {@code wanted} bytes, unless there are fewer; null if unknown. */
  private static byte @Nullable [] expand(byte compressor, ByteBuf content, int wanted)
      throws IOException {
    return switch (compressor) {
      case 0 -> read(new ByteBufInputStream(content), wanted);
      // A block has no beginning that could be read alone.
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

  /** Apart, so that its stream's class is not looked for where there is none. */
  private static final class ZstdBeginning {
    static byte[] read(ByteBuf content, int wanted) throws IOException {
      return CompressedMessages.read(new ZstdInputStream(new ByteBufInputStream(content)), wanted);
    }
  }
}
