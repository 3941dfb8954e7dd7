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
 * A caller's connection and the link's connection to the server, with a delayed pipe in each
 * direction. Only the event loop of the caller's channel uses an instance.
 */
final class LinkConnection {
  private final long acceptedAt = System.nanoTime();
  private final Channel caller;
  private final End callerEnd = new End();
  private final End serverEnd = new End();
  private @Nullable DelayedPipe forth;
  private @Nullable DelayedPipe back;

  /** Receives a caller's connection that the link has just accepted. */
  LinkConnection(Channel caller) {
    this.caller = caller;
    caller.pipeline().addLast(callerEnd);
  }

  /**
   * Starts to forward bytes.
   *
   * @param forthBytes counts the bytes from the caller
   * @param backBytes counts the bytes from the server
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
    // TCP's handshake takes two one-way delays. Then the first byte takes a third delay to the
    // server.
    long established = acceptedAt + 3 * oneWayNanos.getAsLong();
    forth = new DelayedPipe(caller, server, oneWayNanos, lateness, established, forthBytes, onEnd);
    back = new DelayedPipe(server, caller, oneWayNanos, lateness, acceptedAt, backBytes, onEnd);
    server.pipeline().addLast(serverEnd);
    callerEnd.begin(forth, back);
    serverEnd.begin(back, forth);
    // At the end of a stream, Netty's native epoll (4.2.18) removes the channel from its set.
    // Reading can then not be turned on or off. Reading is therefore not turned on after the end.
    // For the same reason, a peer that has half-closed its connection receives at most one socket
    // buffer more. MongoDB's protocol never half-closes a connection.
    if (callerEnd.earlyEnd == null) {
      caller.config().setAutoRead(true);
    }
    server.config().setAutoRead(true);
  }

  private static boolean isDelivered(@Nullable DelayedPipe pipe) {
    return pipe != null && pipe.isDelivered();
  }

  /**
   * The handler of one of the two channels. The channel's input goes into one pipe, and the other
   * pipe writes to the channel. The handler keeps the input until the pipes exist: native epoll
   * reads a channel after the end of its stream, even with reading turned off.
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
      // The connection is broken. The other channel is reset after the one-way delay.
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
