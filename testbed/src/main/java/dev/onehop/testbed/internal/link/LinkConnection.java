package dev.onehop.testbed.internal.link;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.function.LongSupplier;

/** A caller's connection and the one onward to the server, with a delayed pipe each way. */
final class LinkConnection {
  private final Channel caller;
  private final Channel server;
  private final DelayedPipe forth;
  private final DelayedPipe back;

  /**
   * @param acceptedAt {@link System#nanoTime} when the caller's connection was accepted
   */
  LinkConnection(
      Channel caller,
      Channel server,
      LongSupplier oneWayNanos,
      Lateness lateness,
      long acceptedAt) {
    this.caller = caller;
    this.server = server;
    // As TCP's handshake would: the first byte leaves one round trip after connecting.
    long established = acceptedAt + 3 * oneWayNanos.getAsLong();
    this.forth =
        new DelayedPipe(caller, server, oneWayNanos, lateness, established, this::closeIfDone);
    this.back =
        new DelayedPipe(server, caller, oneWayNanos, lateness, acceptedAt, this::closeIfDone);
    caller.pipeline().addLast(new End(forth, back));
    server.pipeline().addLast(new End(back, forth));
  }

  private void closeIfDone() {
    if (forth.isDelivered() && back.isDelivered()) {
      var unusedCaller = caller.close();
      var unusedServer = server.close();
    }
  }

  /** One of the two channels: what it reads goes into one pipe, the other pipe writes to it. */
  private final class End extends ChannelInboundHandlerAdapter {
    private final DelayedPipe outOf;
    private final DelayedPipe into;

    End(DelayedPipe outOf, DelayedPipe into) {
      this.outOf = outOf;
      this.into = into;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      outOf.send((ByteBuf) message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
      outOf.flush();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
      into.drain();
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
      if (event instanceof ChannelInputShutdownEvent) {
        outOf.end(DelayedPipe.End.FINISHED);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      // Either way the connection is broken; the other side learns of it a one-way delay later.
      outOf.end(DelayedPipe.End.RESET);
      var unused = ctx.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      outOf.end(DelayedPipe.End.RESET);
      into.discard();
      closeIfDone();
    }
  }
}
