package dev.onehop.testbed.standin;

import dev.onehop.shards.request.CommandRouter;
import dev.onehop.shards.request.LocalCommands;
import dev.onehop.shards.request.RequestLoop;
import dev.onehop.wire.message.WireProtocolException;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last handler of a client's connection, after the handler that splits frames. Like a mongos,
 * it executes the requests of one connection one at a time. During a request, it reads a few later
 * requests ahead. Otherwise it would stop and restart reading for each request, which costs two
 * more system calls.
 */
final class ClientConnection extends ChannelInboundHandlerAdapter {
  private static final int READ_AHEAD_BYTES = 64 * 1024;

  private static final Logger log = LoggerFactory.getLogger(ClientConnection.class);

  private final CommandRouter router;
  private final LocalCommands local;
  private @Nullable RequestLoop requests;

  ClientConnection(CommandRouter router, LocalCommands local) {
    this.router = router;
    this.local = local;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    requests =
        new RequestLoop(
            router,
            local,
            RequestLoop.Turns.on(context.channel().eventLoop(), router),
            context.alloc(),
            new SocketReplies(context),
            null);
    requests.opened();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    if (requests != null) {
      requests.closed();
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (requests == null) {
      throw new IllegalStateException("not active");
    }
    requests.add((ByteBuf) message);
    if (requests.waitingBytes() > READ_AHEAD_BYTES) {
      context.channel().config().setAutoRead(false);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    log.debug("the connection from {} closes", context.channel().remoteAddress(), cause);
    context.close();
  }

  private record SocketReplies(ChannelHandlerContext context) implements RequestLoop.Replies {
    @Override
    public void send(ByteBuf message) {
      context.writeAndFlush(message, context.voidPromise());
    }

    @Override
    public void idle() {
      if (!context.channel().config().isAutoRead()) {
        context.channel().config().setAutoRead(true);
      }
    }

    @Override
    public void refuse(WireProtocolException why) {
      log.debug(
          "{} has not sent an OP_MSG: {}", context.channel().remoteAddress(), why.getMessage());
      context.close();
    }
  }
}
