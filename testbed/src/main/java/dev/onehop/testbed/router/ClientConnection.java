package dev.onehop.testbed.router;

import dev.onehop.routing.internal.direct.CommandFailure;
import dev.onehop.routing.internal.direct.DirectRouter;
import dev.onehop.routing.internal.wire.LegacyHello;
import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.internal.wire.WireProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.ArrayDeque;
import java.util.Queue;
import org.bson.BsonDocument;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * A client's connection to the stand-in router. Like mongos, it works through the requests of one
 * connection one at a time and reads no further meanwhile.
 */
final class ClientConnection extends ChannelInboundHandlerAdapter {
  private static final Logger log = LoggerFactory.getLogger(ClientConnection.class);

  private final DirectRouter router;
  private final LocalCommands local;
  private final Queue<ByteBuf> waiting = new ArrayDeque<>();
  private boolean busy;
  private int replyId;

  ClientConnection(DirectRouter router, LocalCommands local) {
    this.router = router;
    this.local = local;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    local.connectionOpened();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    local.connectionClosed();
    waiting.forEach(ByteBuf::release);
    waiting.clear();
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    waiting.add((ByteBuf) message);
    if (busy) {
      context.channel().config().setAutoRead(false);
    }
    next(context);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    log.debug("connection from {} ends", context.channel().remoteAddress(), cause);
    context.close();
  }

  private void next(ChannelHandlerContext context) {
    while (!busy) {
      ByteBuf frame = waiting.poll();
      if (frame == null) {
        if (!context.channel().config().isAutoRead()) {
          context.channel().config().setAutoRead(true);
        }
        return;
      }
      busy = true;
      try {
        serve(context, frame);
      } finally {
        frame.release();
      }
    }
  }

  private void serve(ChannelHandlerContext context, ByteBuf frame) {
    if (LegacyHello.is(frame)) {
      ByteBuf reply = context.alloc().buffer();
      LegacyHello.reply(frame, ++replyId, local.hello(), reply);
      context.writeAndFlush(reply, context.voidPromise());
      busy = false;
      return;
    }
    OpMsg request;
    try {
      request = OpMsg.decode(frame);
    } catch (WireProtocolException e) {
      log.debug("{} speaks no OP_MSG: {}", context.channel().remoteAddress(), e.getMessage());
      context.close();
      return;
    }
    Mono<BsonDocument> answer = local.answer(request);
    (answer != null ? answer : router.execute(request))
        .onErrorResume(
            failure ->
                Mono.just(CommandFailure.toReply(failure, request.body().containsKey("txnNumber"))))
        .subscribe(reply -> onLoop(context, () -> finish(context, request, reply)));
  }

  private void finish(ChannelHandlerContext context, OpMsg request, BsonDocument reply) {
    if (request.expectsReply() && context.channel().isActive()) {
      ByteBuf out = context.alloc().buffer(512);
      request.reply(++replyId, reply).encode(out);
      context.writeAndFlush(out, context.voidPromise());
    }
    busy = false;
    next(context);
  }

  private static void onLoop(ChannelHandlerContext context, Runnable task) {
    if (context.executor().inEventLoop()) {
      task.run();
    } else {
      context.executor().execute(task);
    }
  }
}
