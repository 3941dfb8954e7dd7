package dev.onehop.wire.connection;

import dev.onehop.wire.message.BsonFields;
import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;

/**
 * The replies' error codes that concern the whole connection. Source: the server's
 * src/mongo/base/error_codes.yml.
 */
final class ReplyCode {
  private static final int SHUTDOWN_IN_PROGRESS = 91;
  private static final int REAUTHENTICATION_REQUIRED = 391;
  private static final int INTERRUPTED_AT_SHUTDOWN = 11600;

  private ReplyCode() {}

  /**
   * The error code of a command that failed as a whole; 0 if it succeeded or the reply has no code.
   */
  static int of(ByteBuf reply) {
    int start = reply.readerIndex() + OpMsg.HEADER_BYTES + 4;
    if (reply.writerIndex() - start < 6 || reply.getByte(start) != 0) {
      return 0;
    }
    try {
      int code = 0;
      BsonFields fields = new BsonFields(reply, start + 1, reply.writerIndex());
      while (fields.next()) {
        String name = fields.name();
        if (name.equals("ok") && fields.number() == 1) {
          return 0;
        } else if (name.equals("code")) {
          code = (int) fields.number();
        }
      }
      return code;
    } catch (MalformedDocumentException e) {
      // The decoder of the reply reports the error.
      return 0;
    }
  }

  /**
   * Whether the server requires the connection to authenticate again. It has not executed the
   * command.
   */
  static boolean wantsAuthentication(int code) {
    return code == REAUTHENTICATION_REQUIRED;
  }

  /** Whether the server is shutting down and will close its connections. */
  static boolean isShutdown(int code) {
    return code == SHUTDOWN_IN_PROGRESS || code == INTERRUPTED_AT_SHUTDOWN;
  }
}
