package dev.onehop.routing.internal.transport;

import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.internal.wire.WireProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import org.bson.BSONException;
import org.bson.BsonBinaryReader;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.codecs.DecoderContext;

/**
 * A hello or its reply: one document in the old OP_QUERY / OP_REPLY form, which drivers use for the
 * first message, or in OP_MSG.
 */
final class HelloMessage {
  private static final int REPLY_HEAD = 20;

  // The message up to the document, with the lengths of the original.
  private final byte[] head;
  private final BsonDocument document;

  private HelloMessage(byte[] head, BsonDocument document) {
    this.head = head;
    this.document = document;
  }

  /** What it says; not to be changed. */
  BsonDocument document() {
    return document;
  }

  /**
   * Reads a request or reply; the buffer stays as it is.
   *
   * @throws WireProtocolException if it is not one document
   */
  static HelloMessage parse(ByteBuf message) {
    int start = message.readerIndex();
    int at =
        switch (MessageHeader.opCode(message)) {
          case MessageHeader.OP_MSG -> start + MessageHeader.BYTES + 5;
          case MessageHeader.OP_REPLY -> start + MessageHeader.BYTES + REPLY_HEAD;
          case MessageHeader.OP_QUERY ->
              message.indexOf(start + MessageHeader.BYTES + 4, message.writerIndex(), (byte) 0) + 9;
          default ->
              throw new WireProtocolException(
                  "op code " + MessageHeader.opCode(message) + " during the handshake");
        };
    int size = message.writerIndex() - at >= 5 ? message.getIntLE(at) : -1;
    if (size < 5 || size > message.writerIndex() - at) {
      throw new WireProtocolException("a handshake message whose document claims " + size);
    }
    byte[] document = ByteBufUtil.getBytes(message, at, size);
    return new HelloMessage(ByteBufUtil.getBytes(message, start, at - start), decode(document));
  }

  private static BsonDocument decode(byte[] document) {
    try {
      return new BsonDocumentCodec()
          .decode(
              new BsonBinaryReader(ByteBuffer.wrap(document)), DecoderContext.builder().build());
    } catch (BSONException e) {
      throw new WireProtocolException("a handshake message that is no BSON: " + e.getMessage());
    }
  }

  /** This message with another document. */
  HelloMessage with(BsonDocument replacement) {
    return new HelloMessage(head, replacement);
  }

  /** The whole message; the caller releases it. */
  ByteBuf encode(ByteBufAllocator allocator) {
    RawBsonDocument raw = new RawBsonDocument(document, new BsonDocumentCodec());
    ByteBuf body = Unpooled.wrappedBuffer(raw.getByteBuffer().asNIO());
    ByteBuf message = allocator.buffer(head.length + body.readableBytes());
    message.writeBytes(head).writeBytes(body);
    message.setIntLE(0, message.readableBytes());
    if (MessageHeader.opCode(message) == MessageHeader.OP_MSG) {
      // No checksum is written.
      message.setIntLE(MessageHeader.BYTES, flags() & ~OpMsg.CHECKSUM_PRESENT);
    }
    return message;
  }

  /** Whether the server said {@code ok: 1}. */
  boolean isOk() {
    return document.isNumber("ok") && document.getNumber("ok").doubleValue() == 1;
  }

  private int flags() {
    return Unpooled.wrappedBuffer(head).getIntLE(MessageHeader.BYTES);
  }
}
