package dev.onehop.routing.internal.transport;

import dev.onehop.routing.internal.wire.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/** One message of a lane, or of the transport itself, on its way. Touched by one event loop. */
final class Request {
  /** Why it is sent, which decides what becomes of the reply. */
  enum Kind {
    /** An ordinary request among others. */
    SHARED,
    /** An ordinary request on a socket of its own. */
    OWN,
    /** The first hello of a socket, whole, from the lane that founds it. */
    FOUNDING_HELLO,
    /** The first hello of a later lane, on a socket that has had its own. */
    LATER_HELLO,
    /** A step of an authentication. */
    AUTHENTICATION,
    /** A hello that the transport sends by itself to open a socket. */
    REPLAYED_HELLO,
    /** Sent behind requests without a reply: when it is answered, they are done. */
    MARKER,
    /** Sent ahead of a request without a reply, to find it a socket of its own. */
    FORERUNNER
  }

  final Kind kind;
  final @Nullable Lane lane;
  final int clientId;
  final boolean expectsReply;
  private @Nullable ByteBuf message;

  /** Whether it may wait in the server, so that only its like may come behind it. */
  boolean mayWait;

  long queuedAt;
  long sentAt;
  @Nullable WireSocket socket;

  /**
   * @param lane whose request it is, null for the transport's own
   * @param message the whole message, which this takes over
   */
  Request(Kind kind, @Nullable Lane lane, ByteBuf message, boolean expectsReply) {
    this.kind = kind;
    this.lane = lane;
    this.message = message;
    this.clientId = MessageHeader.requestId(message);
    this.expectsReply = expectsReply;
  }

  /** A request of the transport's own that a server answers at once. */
  static Request ping(Kind kind, @Nullable Lane lane, ByteBufAllocator allocator) {
    ByteBuf message = allocator.buffer();
    OpMsg.command(new BsonDocument("ping", new BsonInt32(1)).append("$db", new BsonString("admin")))
        .encode(message);
    Request ping = new Request(kind, lane, message, true);
    ping.mayWait = true;
    return ping;
  }

  /** Whether nobody waits for the reply any more. */
  boolean isAbandoned() {
    return lane != null && lane.isClosed();
  }

  /** The message, which the caller takes over. */
  ByteBuf takeMessage() {
    ByteBuf taken = message;
    if (taken == null) {
      throw new IllegalStateException("sent twice");
    }
    message = null;
    return taken;
  }

  /** Releases the message if it was not sent. */
  void release() {
    if (message != null) {
      message.release();
      message = null;
    }
  }
}
