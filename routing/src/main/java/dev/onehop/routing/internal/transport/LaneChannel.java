package dev.onehop.routing.internal.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoop;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyConnectedException;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * A lane as the driver's own Netty code sees it: a socket channel that connects, takes the bytes of
 * requests and brings those of replies.
 *
 * <p>Lives on the event loop of a {@link LaneGroup} and on no other.
 */
public final class LaneChannel extends AbstractChannel implements SocketChannel {
  private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

  private final LaneConfig config = new LaneConfig(this);
  private final MessageAssembly assembly = new MessageAssembly();
  private boolean open = true;
  private boolean active;
  private @Nullable Lane lane;
  private @Nullable InetSocketAddress remote;
  private @Nullable ChannelPromise connecting;

  /** For the driver, which makes its channels by reflection of its own. */
  public LaneChannel() {
    super(null);
  }

  private Multiplexer multiplexer() {
    if (eventLoop().parent() instanceof LaneGroup group) {
      return group.multiplexer();
    }
    throw new IllegalStateException("a lane lives on the event loops of a PipelinedTransport only");
  }

  @Override
  protected AbstractUnsafe newUnsafe() {
    return new LaneUnsafe();
  }

  @Override
  protected boolean isCompatible(EventLoop loop) {
    return loop.parent() instanceof LaneGroup;
  }

  @Override
  protected void doWrite(ChannelOutboundBuffer in) throws Exception {
    if (lane == null) {
      return;
    }
    while (true) {
      ByteBuf whole = assembly.next(in);
      if (whole == null || !lane.offer(whole)) {
        return;
      }
      assembly.taken(in);
    }
  }

  @Override
  protected void doClose() {
    open = false;
    active = false;
    assembly.release();
    if (connecting != null) {
      connecting.tryFailure(new ConnectException("closed while connecting to " + remote));
      connecting = null;
    }
    if (lane != null) {
      lane.close();
    }
  }

  @Override
  protected void doBeginRead() {
    // Replies come when they come: the driver has asked for each of them.
  }

  @Override
  protected void doBind(SocketAddress localAddress) {
    throw new UnsupportedOperationException("a lane has no address of its own");
  }

  @Override
  protected void doDisconnect() {
    doClose();
  }

  @Override
  protected @Nullable SocketAddress localAddress0() {
    return null;
  }

  @Override
  protected @Nullable SocketAddress remoteAddress0() {
    return remote;
  }

  @Override
  public LaneConfig config() {
    return config;
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public boolean isActive() {
    return active;
  }

  @Override
  public ChannelMetadata metadata() {
    return METADATA;
  }

  @Override
  public @Nullable ServerSocketChannel parent() {
    return null;
  }

  @Override
  public @Nullable InetSocketAddress localAddress() {
    return null;
  }

  @Override
  public @Nullable InetSocketAddress remoteAddress() {
    return remote;
  }

  @Override
  public boolean isInputShutdown() {
    return !open;
  }

  @Override
  public boolean isOutputShutdown() {
    return !open;
  }

  @Override
  public boolean isShutdown() {
    return !open;
  }

  @Override
  public ChannelFuture shutdownInput() {
    return close();
  }

  @Override
  public ChannelFuture shutdownInput(ChannelPromise promise) {
    return close(promise);
  }

  @Override
  public ChannelFuture shutdownOutput() {
    return close();
  }

  @Override
  public ChannelFuture shutdownOutput(ChannelPromise promise) {
    return close(promise);
  }

  @Override
  public ChannelFuture shutdown() {
    return close();
  }

  @Override
  public ChannelFuture shutdown(ChannelPromise promise) {
    return close(promise);
  }

  private final class LaneUnsafe extends AbstractUnsafe {
    @Override
    public void connect(
        SocketAddress remoteAddress, @Nullable SocketAddress localAddress, ChannelPromise promise) {
      if (!promise.setUncancellable() || !ensureOpen(promise)) {
        return;
      }
      if (lane != null) {
        promise.tryFailure(new AlreadyConnectedException());
        return;
      }
      if (!(remoteAddress instanceof InetSocketAddress address)) {
        // Unix domain sockets have their own path in the driver.
        promise.tryFailure(new ConnectException("no lane leads to " + remoteAddress));
        closeIfClosed();
        return;
      }
      remote = address;
      connecting = promise;
      SSLEngine engine = TlsEngines.take(pipeline());
      LaneOptions options =
          new LaneOptions(
              config.getConnectTimeoutMillis(),
              config.getReceiveBufferSize(),
              config.getSendBufferSize(),
              config.getAllocator(),
              engine);
      String tlsName = engine == null ? null : String.valueOf(engine.getPeerHost());
      multiplexer().connect(new ServerKey(address, tlsName), options, new End());
    }

    void retryFlush() {
      flush0();
    }
  }

  /** What the lane tells the driver. */
  private final class End implements LaneEnd {
    @Override
    public void attached(Lane attached) {
      lane = attached;
    }

    @Override
    public void connected() {
      ChannelPromise promise = connecting;
      connecting = null;
      if (promise == null || !open) {
        return;
      }
      active = true;
      promise.trySuccess();
      pipeline().fireChannelActive();
    }

    @Override
    public void connectFailed(Throwable cause) {
      ChannelPromise promise = connecting;
      connecting = null;
      if (promise != null) {
        promise.tryFailure(cause);
      }
      unsafe().close(unsafe().voidPromise());
    }

    @Override
    public void deliver(ByteBuf reply) {
      if (!open) {
        reply.release();
        return;
      }
      pipeline().fireChannelRead(reply);
      pipeline().fireChannelReadComplete();
    }

    @Override
    public void fail(PipelineException cause) {
      if (open) {
        pipeline().fireExceptionCaught(cause);
        // Not channelInactive as well: the driver, if it has not begun to read, would remember that
        // in place of the cause.
        active = false;
        unsafe().close(unsafe().voidPromise());
      }
    }

    @Override
    public void mayWrite() {
      if (open) {
        ((LaneUnsafe) unsafe()).retryFlush();
      }
    }
  }
}
