package dev.onehop.testbed.internal.link;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A caller's connection and the one onward to the server, with a delayed pipe each way. Belongs to
 * the caller's event loop and is used on that only.
 */
final class LinkConnection {
  private final long acceptedAt = System.nanoTime();
  private final Channel caller;
  private final End callerEnd = new End();
  private final End serverEnd = new End();
  private @Nullable DelayedPipe forth;
  private @Nullable DelayedPipe back;

  /** Takes over a caller's connection, just accepted. */
  LinkConnection(Channel caller) {
    this.caller = caller;
    caller.pipeline().addLast(callerEnd);
  }

  /**
   * Begins to pass bytes on.
   *
   * @param forthBytes counts those from the caller
   * @param backBytes counts those from the server
   */
  void join(
      Channel server,
      LongSupplier oneWayNanos,
      Lateness lateness,
      LongAdder forthBytes,
      LongAdder backBytes) {
    Runnable onEnd =
        () -> {
          if (isDelivered(forth) && isDelivered(back)) {
            var unusedCaller = caller.close();
            var unusedServer = server.close();
          }
        };
    // As TCP's handshake would: the first byte leaves one round trip after connecting.
    long established = acceptedAt + 3 * oneWayNanos.getAsLong();
    forth = new DelayedPipe(caller, server, oneWayNanos, lateness, established, forthBytes, onEnd);
    back = new DelayedPipe(server, caller, oneWayNanos, lateness, acceptedAt, backBytes, onEnd);
    server.pipeline().addLast(serverEnd);
    callerEnd.begin(forth, back);
    serverEnd.begin(back, forth);
    // Netty's native epoll (4.2.18) takes a channel out of its set at the end of the stream and
    // then
    // fails to change it there: so no reading past the end. Nor, for the same reason, does it get
    // more
    // than a socket buffer to a peer that has half-closed; nothing in MongoDB's protocol does that.
    if (callerEnd.earlyEnd == null) {
      caller.config().setAutoRead(true);
    }
    server.config().setAutoRead(true);
  }

  private static boolean isDelivered(@Nullable DelayedPipe pipe) {
    return pipe != null && pipe.isDelivered();
  }

  /**
   * One of the two channels: what it reads goes into one pipe, the other pipe writes to it. Until
   * there are pipes it keeps what it reads: native epoll reads a channel that has seen the end of
   * its stream even if it has been told not to.
   */
  private static final class End extends ChannelInboundHandlerAdapter {
    private final List<ByteBuf> early = new ArrayList<>();
    private DelayedPipe.@Nullable End earlyEnd;
    private @Nullable DelayedPipe outOf;
    private @Nullable DelayedPipe into;

    void begin(DelayedPipe outOf, DelayedPipe into) {
      this.outOf = outOf;
      this.into = into;
      early.forEach(outOf::send);
      early.clear();
      outOf.flush();
      if (earlyEnd != null) {
        outOf.end(earlyEnd);
      }
    }

    private void end(DelayedPipe.End end) {
      if (outOf != null) {
        outOf.end(end);
      } else if (earlyEnd == null) {
        earlyEnd = end;
      }
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
      if (outOf != null) {
        outOf.send((ByteBuf) message);
      } else {
        early.add((ByteBuf) message);
      }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
      if (outOf != null) {
        outOf.flush();
      }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
      if (into != null) {
        into.drain();
      }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
      if (event instanceof ChannelInputShutdownEvent) {
        end(DelayedPipe.End.FINISHED);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      // The connection is broken; the other side learns of it a one-way delay later.
      end(DelayedPipe.End.RESET);
      var unused = ctx.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
      end(DelayedPipe.End.RESET);
      early.forEach(ByteBuf::release);
      early.clear();
      if (into != null) {
        into.discard();
      }
    }
  }
}
