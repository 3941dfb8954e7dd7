package dev.onehop.routing.internal.transport;

import io.netty.buffer.ByteBuf;

/**
 * The sixteen bytes that open every message of MongoDB's wire protocol, read and changed in place.
 */
final class MessageHeader {
  static final int BYTES = 16;
  static final int OP_REPLY = 1;
  static final int OP_QUERY = 2004;
  static final int OP_COMPRESSED = 2012;
  static final int OP_MSG = 2013;

  /** OP_MSG flag of a request: the sender takes a stream of replies. */
  static final int EXHAUST_ALLOWED = 1 << 16;

  private static final int REQUEST_ID = 4;
  private static final int RESPONSE_TO = 8;
  private static final int OP_CODE = 12;

  private MessageHeader() {}

  static int length(ByteBuf message) {
    return message.getIntLE(message.readerIndex());
  }

  static int requestId(ByteBuf message) {
    return message.getIntLE(message.readerIndex() + REQUEST_ID);
  }

  static void requestId(ByteBuf message, int id) {
    message.setIntLE(message.readerIndex() + REQUEST_ID, id);
  }

  static int responseTo(ByteBuf message) {
    return message.getIntLE(message.readerIndex() + RESPONSE_TO);
  }

  static void responseTo(ByteBuf message, int id) {
    message.setIntLE(message.readerIndex() + RESPONSE_TO, id);
  }

  static int opCode(ByteBuf message) {
    return message.getIntLE(message.readerIndex() + OP_CODE);
  }

  /** The flags of an OP_MSG, 0 for any other message. */
  static int flags(ByteBuf message) {
    return opCode(message) == OP_MSG && message.readableBytes() >= BYTES + 4
        ? message.getIntLE(message.readerIndex() + BYTES)
        : 0;
  }
}
