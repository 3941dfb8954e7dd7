package dev.onehop.wire.channel;

import dev.onehop.wire.message.MessageAssembly;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.channel.AbstractChannel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelMetadata;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.ChannelPromise;
import io.netty.channel.DefaultChannelPromise;
import io.netty.channel.socket.DefaultSocketChannelConfig;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.SocketChannelConfig;
import io.netty.util.concurrent.ImmediateEventExecutor;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.AlreadyConnectedException;
import org.jspecify.annotations.Nullable;

/**
 * A socket channel without a socket, for the driver's Netty transport: it connects, receives whole
 * requests and delivers replies. A subclass executes the requests.
 *
 * <p>Each channel has one event loop. On a {@link CallerRunsEventLoop}, the thread that writes a
 * request also executes it.
 */
public abstract class InProcessChannel extends AbstractChannel implements SocketChannel {
  private static final ChannelMetadata METADATA = new ChannelMetadata(false, 16);

  private final SocketChannelConfig config = new DefaultSocketChannelConfig(this, new NoSocket());
  private final MessageAssembly assembly = new MessageAssembly();
  private boolean open = true;
  private boolean active;
  private boolean begun;
  private @Nullable InetSocketAddress remote;
  private @Nullable ChannelPromise connecting;

  protected InProcessChannel() {
    super(null);
  }

  /** Starts to connect; the subclass calls {@link #connected} at the end, now or later. */
  protected abstract void connect(InetSocketAddress address);

  /**
   * Receives a whole request.
   *
   * @param message the request; released by the channel, so it must be retained for use after the
   *     call
   */
  protected abstract void take(ByteBuf message);

  /** Called once when the channel is closed. */
  protected abstract void closed();

  /** Completes the connection: the channel may be used. */
  protected final void connected() {
    ChannelPromise promise = connecting;
    connecting = null;
    if (promise == null || !open) {
      return;
    }
    active = true;
    promise.trySuccess();
    pipeline().fireChannelActive();
  }

  /** Delivers a reply to the driver, which releases it. */
  protected final void deliver(ByteBuf reply) {
    if (!open) {
      reply.release();
      return;
    }
    pipeline().fireChannelRead(reply.refCnt() > 1 ? ofTheDriver(reply) : reply);
    pipeline().fireChannelReadComplete();
  }

  /**
   * Returns the same bytes with a separate reference count. When the driver closes its connection,
   * it releases all references to a reply that it has not read completely. With one common count,
   * it would also release the references of other users, such as replies from the same read.
   */
  private static ByteBuf ofTheDriver(ByteBuf shared) {
    return new CompositeByteBuf(shared.alloc(), shared.isDirect(), 1).addComponent(true, shared);
  }

  /** Reports the failure to the driver, and closes the channel. */
  protected final void fail(Throwable cause) {
    if (open) {
      pipeline().fireExceptionCaught(cause);
      // This closes the channel without the event channelInactive. A driver that has not started to
      // read would report this event instead of the cause.
      active = false;
      unsafe().close(unsafe().voidPromise());
    }
  }

  /** Writes on the calling thread if the channel's event loop supports it. */
  @Override
  public final ChannelFuture writeAndFlush(Object message) {
    if (!(eventLoop() instanceof CallerRunsEventLoop loop)) {
      return super.writeAndFlush(message);
    }
    // With this executor, listeners run on the thread that completes the promise, not on the
    // carrier event loop.
    ChannelPromise promise = new DefaultChannelPromise(this, ImmediateEventExecutor.INSTANCE);
    loop.run(() -> pipeline().writeAndFlush(message, promise));
    return promise;
  }

  @Override
  protected final AbstractUnsafe newUnsafe() {
    return new InProcessUnsafe();
  }

  @Override
  protected final void doWrite(ChannelOutboundBuffer in) {
    if (!active) {
      return;
    }
    for (ByteBuf whole = assembly.next(in); whole != null; whole = assembly.next(in)) {
      take(whole);
      assembly.taken(in);
    }
  }

  @Override
  protected final void doClose() {
    boolean first = open;
    open = false;
    active = false;
    assembly.release();
    if (connecting != null) {
      connecting.tryFailure(new ConnectException("closed while connecting to " + remote));
      connecting = null;
    }
    if (first) {
      closed();
    }
  }

  @Override
  protected final void doBeginRead() {
    // A read needs no action, because each reply is delivered as soon as it arrives.
  }

  @Override
  protected final void doBind(SocketAddress localAddress) {
    throw new UnsupportedOperationException("a channel without a socket has no local address");
  }

  @Override
  protected final void doDisconnect() {
    doClose();
  }

  @Override
  protected final @Nullable SocketAddress localAddress0() {
    return null;
  }

  @Override
  protected final @Nullable SocketAddress remoteAddress0() {
    return remote;
  }

  @Override
  public final SocketChannelConfig config() {
    return config;
  }

  @Override
  public final boolean isOpen() {
    return open;
  }

  @Override
  public final boolean isActive() {
    return active;
  }

  @Override
  public final ChannelMetadata metadata() {
    return METADATA;
  }

  @Override
  public final @Nullable ServerSocketChannel parent() {
    return null;
  }

  @Override
  public final @Nullable InetSocketAddress localAddress() {
    return null;
  }

  @Override
  public final @Nullable InetSocketAddress remoteAddress() {
    return remote;
  }

  @Override
  public final boolean isInputShutdown() {
    return !open;
  }

  @Override
  public final boolean isOutputShutdown() {
    return !open;
  }

  @Override
  public final boolean isShutdown() {
    return !open;
  }

  @Override
  public final ChannelFuture shutdownInput() {
    return close();
  }

  @Override
  public final ChannelFuture shutdownInput(ChannelPromise promise) {
    return close(promise);
  }

  @Override
  public final ChannelFuture shutdownOutput() {
    return close();
  }

  @Override
  public final ChannelFuture shutdownOutput(ChannelPromise promise) {
    return close(promise);
  }

  @Override
  public final ChannelFuture shutdown() {
    return close();
  }

  @Override
  public final ChannelFuture shutdown(ChannelPromise promise) {
    return close(promise);
  }

  private final class InProcessUnsafe extends AbstractUnsafe {
    @Override
    public void connect(
        SocketAddress remoteAddress, @Nullable SocketAddress localAddress, ChannelPromise promise) {
      if (!promise.setUncancellable() || !ensureOpen(promise)) {
        return;
      }
      if (begun) {
        promise.tryFailure(new AlreadyConnectedException());
        return;
      }
      if (!(remoteAddress instanceof InetSocketAddress address)) {
        // The driver does not use channels for Unix domain sockets.
        promise.tryFailure(new ConnectException("cannot connect to " + remoteAddress));
        closeIfClosed();
        return;
      }
      begun = true;
      remote = address;
      connecting = promise;
      InProcessChannel.this.connect(address);
    }
  }
}
