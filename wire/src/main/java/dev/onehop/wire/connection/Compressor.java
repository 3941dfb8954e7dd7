package dev.onehop.wire.connection;

import com.github.luben.zstd.Zstd;
import dev.onehop.wire.message.BsonFields;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Set;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.xerial.snappy.Snappy;

/**
 * Compresses requests. Source: the drivers' specification "Wire Compression".
 *
 * @param name {@code snappy}, {@code zlib} or {@code zstd}
 * @param level the level of zlib (-1 for its default, 0 to 9) or zstd (1 to 22)
 */
public record Compressor(String name, int level) {
  /**
   * Commands that are never compressed: they contain secrets, or are sent before the compressor is
   * negotiated.
   */
  private static final Set<String> NEVER =
      Set.of(
          "hello",
          "isMaster",
          "ismaster",
          "saslStart",
          "saslContinue",
          "getnonce",
          "authenticate",
          "createUser",
          "updateUser",
          "copydbSaslStart",
          "copydbgetnonce",
          "copydb");

  private static final int COMMAND_AT = OpMsg.HEADER_BYTES + 4 + 1;

  public Compressor {
    id(name);
  }

  private static int id(String name) {
    return switch (name) {
      case "snappy" -> 1;
      case "zlib" -> 2;
      case "zstd" -> 3;
      default -> throw new IllegalArgumentException("unknown compressor " + name);
    };
  }

  /** Whether the compressor's library is on the class path. */
  public boolean isAvailable() {
    try {
      compress("onehop".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
      return true;
    } catch (IOException | LinkageError e) {
      return false;
    }
  }

  /**
   * Chooses the first compressor in the server's list. The server lists the client's compressors
   * that it supports.
   *
   * @param hello the server's reply
   * @return null for no compression
   */
  static @Nullable Compressor agreed(BsonDocument hello, List<Compressor> ours) {
    for (BsonValue name : hello.getArray("compression", new BsonArray())) {
      for (Compressor each : ours) {
        if (name.equals(new BsonString(each.name()))) {
          return each;
        }
      }
    }
    return null;
  }

  /**
   * Compresses a request, unless its command must not be compressed.
   *
   * @param message the whole OP_MSG; released by this method
   * @return the message to send, which the caller releases. It has an array if the given message
   *     has one
   */
  ByteBuf compress(ByteBuf message) {
    int start = message.readerIndex();
    if (!isCompressible(message)) {
      return message;
    }
    try {
      int size = message.readableBytes() - OpMsg.HEADER_BYTES;
      byte[] compressed = compress(ByteBufUtil.getBytes(message, start + OpMsg.HEADER_BYTES, size));
      int length = OpMsg.HEADER_BYTES + 9 + compressed.length;
      ByteBuf out =
          message.hasArray() ? message.alloc().heapBuffer(length) : message.alloc().buffer(length);
      return out.writeIntLE(length)
          .writeBytes(message, start + 4, 8)
          .writeIntLE(CompressedMessages.OP_COMPRESSED)
          .writeIntLE(OpMsg.OP_MSG)
          .writeIntLE(size)
          .writeByte(id(name))
          .writeBytes(compressed);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      message.release();
    }
  }

  private static boolean isCompressible(ByteBuf message) {
    int start = message.readerIndex();
    if (message.getByte(start + COMMAND_AT - 1) != 0) {
      return false;
    }
    try {
      BsonFields fields = new BsonFields(message, start + COMMAND_AT, message.writerIndex());
      return fields.next() && !NEVER.contains(fields.name());
    } catch (BsonFields.MalformedDocumentException e) {
      return false;
    }
  }

  private byte[] compress(byte[] content) throws IOException {
    return switch (name) {
      case "snappy" -> Snappy.compress(content);
      case "zlib" -> deflated(content);
      default -> Zstd.compress(content, level);
    };
  }

  private byte[] deflated(byte[] content) throws IOException {
    Deflater deflater = new Deflater(level);
    try (ByteArrayOutputStream out = new ByteArrayOutputStream(content.length / 2 + 16);
        DeflaterOutputStream deflating = new DeflaterOutputStream(out, deflater)) {
      deflating.write(content);
      deflating.finish();
      return out.toByteArray();
    } finally {
      deflater.end();
    }
  }
}
