package dev.onehop.wire.message;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.bson.ByteBufNIO;
import org.bson.RawBsonDocument;

/** Moves BSON documents between buffers and {@link RawBsonDocument}s without decoding them. */
final class RawDocuments {
  private static final int EMPTY_DOCUMENT_BYTES = 5;

  private RawDocuments() {}

  static RawBsonDocument read(ByteBuf in, int limit) {
    int available = limit - in.readerIndex();
    int size = available >= EMPTY_DOCUMENT_BYTES ? in.getIntLE(in.readerIndex()) : -1;
    if (size < EMPTY_DOCUMENT_BYTES || size > available) {
      throw new WireProtocolException(
          "BSON document has a length of "
              + size
              + " bytes, but only "
              + available
              + " bytes are left in the message");
    }
    byte[] bytes = new byte[size];
    in.readBytes(bytes);
    return new RawBsonDocument(bytes);
  }

  static void write(RawBsonDocument document, ByteBuf out) {
    ByteBuffer bytes = document.getByteBuffer().asNIO();
    out.writeBytes(bytes);
  }

  /** A document with the fields of {@code head} and then the fields of {@code tail}. */
  static RawBsonDocument append(RawBsonDocument head, RawBsonDocument tail) {
    ByteBuffer first = bytes(head);
    ByteBuffer second = bytes(tail);
    int size = first.remaining() + second.remaining() - EMPTY_DOCUMENT_BYTES;
    ByteBuffer joined = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    joined.putInt(size);
    joined.put(first.position(first.position() + 4).limit(first.limit() - 1));
    joined.put(second.position(second.position() + 4));
    return new RawBsonDocument(joined.array());
  }

  private static ByteBuffer bytes(RawBsonDocument document) {
    return ((ByteBufNIO) document.getByteBuffer()).asNIO().duplicate();
  }
}
