package dev.onehop.testbed.standin;

import dev.onehop.wire.message.LegacyHello;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The fail point {@code failCommand} of a mongos: commands fail, wait or close their connection
 * before they are routed. All connections of a router share one instance. Thread-safe.
 */
final class FailCommand {
  private static final String NAME = "failCommand";

  private static final BsonString TRANSIENT_LABEL = new BsonString("TransientTransactionError");
  private static final Set<Integer> TRANSIENT = Set.of(24, 112, 246, 251, 267);
  private static final Set<Integer> RETRIABLE =
      Set.of(6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436);
  private static final Map<Integer, String> NAMES =
      Map.of(251, "NoSuchTransaction", 11601, "Interrupted");

  private BsonDocument data = new BsonDocument();
  private long left;

  /** The handler of one connection; it comes before the routing handler. */
  ChannelDuplexHandler handler() {
    return new Connection();
  }

  private synchronized BsonDocument configure(BsonDocument command) {
    if (!command.getString("configureFailPoint").getValue().equals(NAME)) {
      return failure(new BsonInt32(27), "a stand-in router supports only the fail point " + NAME);
    }
    BsonValue mode = command.get("mode", new BsonString("off"));
    data = command.getDocument("data", new BsonDocument());
    left =
        mode.isDocument()
            ? mode.asDocument().getNumber("times").longValue()
            : mode.asString().getValue().equals("alwaysOn") ? Long.MAX_VALUE : 0;
    return new BsonDocument("ok", new BsonDouble(1));
  }

  /** Returns the failure for a command, or null if the command runs. */
  private synchronized @Nullable BsonDocument failing(String command, String application) {
    boolean named =
        data.getArray("failCommands", new BsonArray()).contains(new BsonString(command));
    boolean mine =
        !data.containsKey("appName") || data.getString("appName").getValue().equals(application);
    if (left == 0 || !named || !mine) {
      return null;
    }
    left--;
    return data;
  }

  private static BsonDocument failure(BsonValue code, String message) {
    return new BsonDocument("ok", new BsonDouble(0))
        .append("errmsg", new BsonString(message))
        .append("code", code);
  }

  private final class Connection extends ChannelDuplexHandler {
    /** The write concern errors to add to the replies to running requests, by request id. */
    private final Map<Integer, BsonDocument> writeConcernErrors = new HashMap<>();

    private String application = "";

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      ByteBuf frame = (ByteBuf) message;
      if (LegacyHello.is(frame)) {
        BsonDocument hello = LegacyHello.document(frame);
        greeted(hello);
        @Nullable BsonDocument refused = failing(hello.getFirstKey(), application);
        if (refused == null) {
          context.fireChannelRead(message);
        } else {
          frame.release();
          context.close();
        }
        return;
      }
      OpMsg request = OpMsg.decode(frame.duplicate());
      greeted(request.body());
      if (request.commandName().equals("configureFailPoint")) {
        frame.release();
        reply(context, request, configure(request.body()));
        return;
      }
      @Nullable BsonDocument failing = failing(request.commandName(), application);
      if (failing == null) {
        context.fireChannelRead(message);
        return;
      }
      long wait =
          failing.getBoolean("blockConnection", BsonBoolean.FALSE).getValue()
              ? failing.getNumber("blockTimeMS", new BsonInt64(0)).longValue()
              : 0;
      context
          .executor()
          .schedule(() -> fail(context, request, frame, failing), wait, TimeUnit.MILLISECONDS);
    }

    private void greeted(BsonDocument command) {
      if (command.get("client") instanceof BsonDocument client
          && client.get("application") instanceof BsonDocument named) {
        application = named.getString("name", new BsonString("")).getValue();
      }
    }

    private void fail(
        ChannelHandlerContext context, OpMsg request, ByteBuf frame, BsonDocument failing) {
      BsonArray labels = failing.getArray("errorLabels", new BsonArray());
      if (failing.getBoolean("closeConnection", BsonBoolean.FALSE).getValue()) {
        frame.release();
        context.close();
      } else if (failing.containsKey("errorCode")) {
        frame.release();
        reply(context, request, error(request, failing, labels));
      } else {
        if (failing.get("writeConcernError") instanceof BsonDocument error) {
          BsonDocument more = new BsonDocument("writeConcernError", error);
          writeConcernErrors.put(
              request.requestId(), labels.isEmpty() ? more : more.append("errorLabels", labels));
        }
        context.fireChannelRead(frame);
      }
    }

    private BsonDocument error(OpMsg request, BsonDocument failing, BsonArray labels) {
      int code = failing.getNumber("errorCode").intValue();
      BsonDocument reply =
          failure(new BsonInt32(code), "Failing command via 'failCommand' failpoint");
      if (NAMES.containsKey(code)) {
        reply.append("codeName", new BsonString(NAMES.get(code)));
      }
      boolean ends = request.commandName().endsWith("Transaction");
      boolean isTransient = TRANSIENT.contains(code) || (!ends && RETRIABLE.contains(code));
      if (failing.containsKey("errorLabels")) {
        return reply.append("errorLabels", labels);
      }
      return isTransient && request.body().containsKey("autocommit")
          ? reply.append("errorLabels", new BsonArray(List.of(TRANSIENT_LABEL)))
          : reply;
    }

    private void reply(ChannelHandlerContext context, OpMsg request, BsonDocument document) {
      ByteBuf out = context.alloc().buffer();
      request.reply(0, document).encode(out);
      context.writeAndFlush(out);
    }

    @Override
    public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
      ByteBuf frame = (ByteBuf) message;
      @Nullable BsonDocument error =
          writeConcernErrors.isEmpty()
              ? null
              : writeConcernErrors.remove(frame.getIntLE(frame.readerIndex() + 8));
      if (error == null) {
        context.write(message, promise);
        return;
      }
      OpMsg reply = OpMsg.decode(frame.duplicate());
      ByteBuf out = context.alloc().buffer();
      reply.withFields(error).encode(out);
      frame.release();
      context.write(out, promise);
    }
  }
}
