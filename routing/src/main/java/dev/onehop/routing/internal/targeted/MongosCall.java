package dev.onehop.routing.internal.targeted;

import dev.onehop.routing.internal.metrics.Route;
import dev.onehop.shards.command.ReplyHead;
import dev.onehop.wire.connection.Exchange;
import dev.onehop.wire.connection.ServerRefusedException;
import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.message.NotSentException;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireProtocolException;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.net.ProtocolException;
import org.bson.BsonDocument;
import org.bson.BsonSerializationException;
import org.jspecify.annotations.Nullable;

/**
 * One command at one mongos. Its outcome updates cursors, transactions and the state of the mongos.
 */
final class MongosCall implements Exchange.Outcome {
  private final TargetedRouter router;
  private final TargetedCommand command;
  private final Route route;
  private final CursorPins.@Nullable Pin cursor;
  private final @Nullable BsonDocument session;
  private final long startNanos = System.nanoTime();
  private final Answer answer;

  /** Receives the outcome of a command: one call, on an event loop. */
  interface Answer {
    /**
     * The command was executed or refused.
     *
     * @param message the whole reply, under the command's request id; the caller releases it; null
     *     for an unacknowledged command
     * @param ok whether it was executed
     */
    void replied(@Nullable ByteBuf message, boolean ok);

    /** The command was certainly not sent. */
    void unsent(Throwable why);

    /** It is unknown whether the command was executed. */
    void failed(Throwable cause);
  }

  /**
   * @param session the session of a transaction; otherwise null
   * @param cursor the cursor of a getMore; otherwise null
   */
  MongosCall(
      TargetedRouter router,
      TargetedCommand command,
      Route route,
      @Nullable BsonDocument session,
      CursorPins.@Nullable Pin cursor,
      Answer answer) {
    this.router = router;
    this.command = command;
    this.route = route;
    this.cursor = cursor;
    this.session = session;
    this.answer = answer;
  }

  @Override
  public void replied(ByteBuf message) {
    boolean ok;
    try {
      ok = take(message);
    } catch (MalformedDocumentException
        | WireProtocolException
        | BsonSerializationException
        | IndexOutOfBoundsException e) {
      failed(
          new ProtocolException(
              route.server() + " returned a reply that is not valid BSON: " + e.getMessage()));
      return;
    }
    answer.replied(message, ok);
  }

  /** Processes a reply. Returns whether the command was executed. */
  private boolean take(ByteBuf message) {
    ReplyHead head = ReplyHead.read(message);
    message.setIntLE(message.readerIndex() + 8, command.requestId());
    int idAt = head.cursorIdAt();
    if (cursor != null) {
      if (idAt >= 0) {
        message.setLongLE(idAt, command.cursorId());
      }
    } else if (idAt >= 0) {
      // The cursor's id is always an int64, so it can be replaced in place.
      long id =
          router.cursors().add(route.server(), message.getLongLE(idAt), command.isChangeStream());
      message.setLongLE(idAt, id);
    }
    if (head.isOk() && cursor != null && idAt < 0) {
      router.cursors().remove(command.cursorId());
    }
    if (!head.hasErrors()) {
      long now = System.nanoTime();
      router.served(command, route, now - startNanos, now);
      return true;
    }
    return judge(OpMsg.decode(message.duplicate()).body());
  }

  private boolean judge(BsonDocument reply) {
    boolean ok = ErrorCodes.ok(reply);
    BsonDocument error =
        ok && reply.get("writeConcernError") instanceof BsonDocument concern ? concern : reply;
    int code = ErrorCodes.of(error);
    if (ErrorCodes.isNotPrimary(code)) {
      router.mongoses().failed(route.server(), startNanos);
      if (command.endsTransaction()) {
        // Without the pin, another mongos can end the transaction, by the recovery token.
        router.unpin(session, command);
      }
    }
    if (!ok && code == ErrorCodes.CURSOR_NOT_FOUND && cursor != null) {
      router.cursors().remove(command.cursorId());
    }
    return ok && !reply.containsKey("writeErrors");
  }

  @Override
  public void sent() {
    answer.replied(null, true);
  }

  @Override
  public void unsent(Throwable cause) {
    if (NotSentException.isLocal(cause) || cause instanceof ServerRefusedException) {
      // Another mongos cannot help, because this process lacks resources, or every mongos refuses
      // the user.
      failed(cause);
      return;
    }
    lost(cause);
    answer.unsent(cause);
  }

  @Override
  public void failed(Throwable cause) {
    lost(cause);
    answer.failed(cause);
  }

  private void lost(Throwable cause) {
    if (cause instanceof IOException && !NotSentException.isLocal(cause) && !router.isClosed()) {
      router.mongoses().failed(route.server(), startNanos);
    }
    if (command.endsTransaction()) {
      router.unpin(session, command);
    }
  }
}
