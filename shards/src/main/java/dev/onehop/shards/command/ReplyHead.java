package dev.onehop.shards.command;

import dev.onehop.wire.message.BsonFields;
import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;

/** The fields of an encoded reply that OneHop checks before it returns the reply. */
public final class ReplyHead {
  private static final int FLAGS_AT = 16;
  private static final int BODY_AT = 21;

  private boolean ok;
  private boolean errors;
  private int cursorIdAt = -1;
  private int clusterTimeAt = -1;

  private ReplyHead() {}

  /** Parses a message in one pass over the top level of its body. */
  public static ReplyHead read(ByteBuf message) {
    int start = message.readerIndex();
    if (message.readableBytes() < BODY_AT + 5
        || message.getIntLE(start + 12) != OpMsg.OP_MSG
        || message.getIntLE(start + FLAGS_AT) != 0
        || message.getByte(start + BODY_AT - 1) != 0) {
      throw new MalformedDocumentException("not an OP_MSG message with a single document");
    }
    ReplyHead head = new ReplyHead();
    BsonFields fields = new BsonFields(message, start + BODY_AT, message.writerIndex());
    while (fields.next()) {
      switch (fields.name()) {
        case "ok" -> head.ok = fields.number() == 1;
        case "writeErrors", "writeConcernError", "errorLabels" -> head.errors = true;
        case "cursor" -> {
          BsonFields cursor = fields.document();
          head.cursorIdAt = cursor.find("id") && cursor.number() != 0 ? cursor.valueOffset() : -1;
        }
        case "$clusterTime" -> head.clusterTimeAt = fields.isDocument() ? fields.valueOffset() : -1;
        default -> {}
      }
    }
    return head;
  }

  /** Whether the reply has neither errors nor an open cursor. */
  public boolean isPlain() {
    return ok && !errors && cursorIdAt < 0;
  }

  /** Whether the command was executed, possibly with errors in some of its statements. */
  public boolean isOk() {
    return ok;
  }

  /** Whether the reply has an error or an error label. */
  public boolean hasErrors() {
    return !ok || errors;
  }

  /** The index of an open cursor's id in the message, -1 if there is none. */
  public int cursorIdAt() {
    return cursorIdAt;
  }

  /** The index of {@code $clusterTime} in the message, -1 if there is none. */
  public int clusterTimeAt() {
    return clusterTimeAt;
  }
}
