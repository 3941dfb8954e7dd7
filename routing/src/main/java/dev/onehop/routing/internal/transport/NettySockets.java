package dev.onehop.routing.internal.transport;

import dev.onehop.routing.internal.wire.EventLoops;
import dev.onehop.routing.internal.wire.WireFrames;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.EventLoop;
import io.netty.channel.epoll.EpollChannelOption;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.SocketAddress;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/** Opens TCP connections, with TLS where the driver asked for it, on one event loop. */
final class NettySockets implements SocketOpener {
  // The kernel takes megabytes for a peer that has stopped reading. Unless what is not sent yet
  // stays with us, the socket looks idle, and more requests are lost on it.
  private static final long MAX_UNSENT_BYTES = 128 * 1024;

  private final EventLoop eventLoop;

  NettySockets(EventLoop eventLoop) {
    this.eventLoop = eventLoop;
  }

  @Override
  public SocketEnd open(ServerKey server, LaneOptions options, WireSocket socket) {
    NettySocket end = new NettySocket(socket, options);
    Bootstrap bootstrap =
        new Bootstrap()
            .group(eventLoop)
            .channel(EventLoops.socketChannelClass())
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            .option(ChannelOption.ALLOCATOR, options.allocator())
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, options.connectTimeoutMillis())
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    end.initialize(channel);
                  }
                });
    if (EventLoops.socketChannelClass() == EpollSocketChannel.class) {
      bootstrap.option(EpollChannelOption.TCP_NOTSENT_LOWAT, MAX_UNSENT_BYTES);
    }
    if (options.receiveBufferBytes() > 0) {
      bootstrap.option(ChannelOption.SO_RCVBUF, options.receiveBufferBytes());
    }
    if (options.sendBufferBytes() > 0) {
      bootstrap.option(ChannelOption.SO_SNDBUF, options.sendBufferBytes());
    }
    EventLoops.afterEvents(eventLoop, () -> end.connect(bootstrap, server.address()));
    return end;
  }

  /** A Netty channel as a socket's end; its last handler. */
  private static final class NettySocket extends ChannelInboundHandlerAdapter implements SocketEnd {
    private final WireSocket socket;
    private final LaneOptions options;
    private @Nullable Channel channel;
    private boolean flushScheduled;

    NettySocket(WireSocket socket, LaneOptions options) {
      this.socket = socket;
      this.options = options;
    }

    void initialize(Channel ch) {
      SSLEngine engine = options.engine();
      if (engine != null) {
        SslHandler tls = new SslHandler(engine);
        tls.setHandshakeTimeoutMillis(options.connectTimeoutMillis());
        ch.pipeline().addLast(tls);
      }
      ch.pipeline().addLast(new WireFrames(), this);
    }

    void connect(Bootstrap bootstrap, SocketAddress address) {
      if (socket.isClosed()) {
        TlsEngines.release(options.engine());
        return;
      }
      ChannelFuture connecting = bootstrap.connect(address);
      channel = connecting.channel();
      connecting.addListener(
          (ChannelFuture done) -> {
            SslHandler tls = done.channel().pipeline().get(SslHandler.class);
            if (!done.isSuccess()) {
              TlsEngines.release(tls == null ? options.engine() : null);
              socket.broken(done.cause());
            } else if (tls == null) {
              socket.connected();
            } else {
              tls.handshakeFuture().addListener(this::shookHands);
            }
          });
    }

    private void shookHands(Future<? super Channel> done) {
      if (done.isSuccess()) {
        socket.connected();
      } else {
        socket.broken(done.cause());
      }
    }

    @Override
    public void write(ByteBuf message) {
      Channel ch = channel;
      if (ch == null) {
        message.release();
        return;
      }
      ch.write(message, ch.voidPromise());
      // What all lanes write in one turn of the event loop leaves in one system call.
      if (!flushScheduled) {
        flushScheduled = true;
        ch.eventLoop().execute(this::flush);
      }
    }

    private void flush() {
      flushScheduled = false;
      if (channel != null) {
        channel.flush();
      }
    }

    @Override
    public boolean isWritable() {
      return channel != null && channel.isWritable();
    }

    @Override
    public long pendingBytes() {
      ChannelOutboundBuffer buffer = channel == null ? null : channel.unsafe().outboundBuffer();
      return buffer == null ? 0 : buffer.totalPendingWriteBytes();
    }

    @Override
    public void close() {
      if (channel != null) {
        channel.close();
      }
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) throws Exception {
      ByteBuf frame = (ByteBuf) message;
      try {
        if (!socket.isClosed()) {
          socket.received(frame);
        }
      } finally {
        frame.release();
      }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      if (context.channel().isWritable()) {
        socket.writable();
      }
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      socket.broken(new IOException("the server closed the connection"));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      socket.broken(named(cause));
      context.close();
    }

    private static Throwable named(Throwable cause) {
      if (cause instanceof TooLongFrameException || cause instanceof CorruptedFrameException) {
        return new PipelineException(
            "not a MongoDB message, by its length: " + cause.getMessage(), cause);
      }
      return cause instanceof DecoderException && cause.getCause() != null
          ? cause.getCause()
          : cause;
    }
  }
}
