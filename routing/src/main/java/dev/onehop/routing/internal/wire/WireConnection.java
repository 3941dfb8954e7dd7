package dev.onehop.routing.internal.wire;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * A connection to one MongoDB server. Requests are answered in the order in which they were sent,
 * as mongod does; a connection that breaks fails every request still unanswered.
 *
 * <p>Safe for use by several threads.
 */
final class WireConnection {
  private static final AtomicInteger REQUEST_IDS = new AtomicInteger();

  private final Channel channel;
  private final ServerAddressName server;
  // Touched by the event loop only.
  private final Queue<Pending> pending = new ArrayDeque<>();

  private record Pending(int requestId, MonoSink<OpMsg> sink) {}

  private WireConnection(Channel channel, ServerAddressName server) {
    this.channel = channel;
    this.server = server;
  }

  /**
   * Connects.
   *
   * @param localAddress the address to connect from, null for the system's choice
   */
  static Mono<WireConnection> open(
      EventLoopGroup group,
      ServerAddressName server,
      @Nullable SocketAddress localAddress,
      int connectTimeoutMillis) {
    return Mono.create(
        sink -> {
          Bootstrap bootstrap =
              new Bootstrap()
                  .group(group)
                  .channel(EventLoops.socketChannelClass())
                  .option(ChannelOption.TCP_NODELAY, true)
                  .option(ChannelOption.SO_KEEPALIVE, true)
                  .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, connectTimeoutMillis)
                  .handler(
                      new ChannelInitializer<Channel>() {
                        @Override
                        protected void initChannel(Channel ch) {
                          ch.pipeline().addLast(new WireFrames());
                        }
                      });
          if (localAddress != null) {
            bootstrap.localAddress(localAddress);
          }
          bootstrap
              .connect(new InetSocketAddress(server.host(), server.port()))
              .addListener(
                  (io.netty.channel.ChannelFuture connected) -> {
                    if (!connected.isSuccess()) {
                      sink.error(
                          new IOException(
                              "cannot connect to " + server + ": " + connected.cause().getMessage(),
                              connected.cause()));
                      return;
                    }
                    WireConnection connection = new WireConnection(connected.channel(), server);
                    connected.channel().pipeline().addLast(connection.new Replies());
                    sink.success(connection);
                  });
        });
  }

  /** Sends a request; the answer comes on the event loop. Not cancellable once sent. */
  Mono<OpMsg> send(OpMsg request) {
    return Mono.create(
        sink -> {
          if (channel.eventLoop().inEventLoop()) {
            write(request, sink);
          } else {
            channel.eventLoop().execute(() -> write(request, sink));
          }
        });
  }

  private void write(OpMsg request, MonoSink<OpMsg> sink) {
    if (!channel.isActive()) {
      sink.error(closed());
      return;
    }
    OpMsg numbered = request.withRequestId(REQUEST_IDS.incrementAndGet());
    ByteBuf buffer = channel.alloc().buffer(512);
    numbered.encode(buffer);
    if (numbered.expectsReply()) {
      pending.add(new Pending(numbered.requestId(), sink));
    } else {
      sink.success();
    }
    channel.writeAndFlush(buffer, channel.voidPromise());
  }

  boolean isOpen() {
    return channel.isActive();
  }

  void close() {
    channel.close();
  }

  private IOException closed() {
    return new IOException("connection to " + server + " is closed");
  }

  private final class Replies extends SimpleChannelInboundHandler<ByteBuf> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
      OpMsg reply = OpMsg.decode(frame);
      Pending next = pending.poll();
      if (next == null || next.requestId() != reply.responseTo()) {
        if (next != null) {
          next.sink().error(closed());
        }
        throw new WireProtocolException(
            server + " answered request " + reply.responseTo() + ", which was not the next one");
      }
      next.sink().success(reply);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      failAll(closed());
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      failAll(new IOException("connection to " + server + " failed: " + cause.getMessage(), cause));
      context.close();
    }

    private void failAll(IOException cause) {
      for (Pending next = pending.poll(); next != null; next = pending.poll()) {
        next.sink().error(cause);
      }
    }
  }
}
