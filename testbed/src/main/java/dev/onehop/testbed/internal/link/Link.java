package dev.onehop.testbed.internal.link;

import dev.onehop.testbed.TestbedException;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * The path to one server. A link listens on the server's advertised address and forwards the bytes
 * to the server's real address, with the delay of the distance. The link connects to the server
 * from the caller's own address, so the server's profiler records the caller's host. Thread-safe.
 */
public final class Link {
  private final Links links;
  private final ConnectionEnd at;
  private final InetSocketAddress advertised;
  private final InetSocketAddress server;
  private final ChannelGroup callers = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Channel listener;
  private volatile boolean blocked;
  private volatile long furtherNanos;

  Link(Links links, ConnectionEnd at, InetSocketAddress advertised, InetSocketAddress server) {
    this.links = links;
    this.at = at;
    this.advertised = advertised;
    this.server = server;
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(links.group())
            .channel(links.transport().serverChannel())
            .option(ChannelOption.SO_REUSEADDR, true)
            .option(ChannelOption.SO_BACKLOG, 1024)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .childOption(ChannelOption.AUTO_READ, false)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new Accept());
                  }
                });
    try {
      this.listener = bootstrap.bind(advertised).syncUninterruptibly().channel();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) { // Netty throws BindException unchecked
      throw new TestbedException("cannot listen on " + advertised + ": " + e.getMessage(), e);
    }
  }

  /** The server's advertised address. */
  public InetSocketAddress advertised() {
    return advertised;
  }

  /** The name of the host of the link's server. */
  public String host() {
    return at.host();
  }

  /** Closes every connection with a reset on both ends. New connections work as before. */
  public void cut() {
    for (Channel caller : callers) {
      caller.eventLoop().execute(() -> DelayedPipe.reset(caller));
    }
  }

  /**
   * Blocks or unblocks the link. A blocked link closes every connection, also a new connection.
   *
   * @param blocked whether to block
   */
  public void setBlocked(boolean blocked) {
    this.blocked = blocked;
    if (blocked) {
      cut();
    }
  }

  /**
   * Adds a delay to the topology's round trip.
   *
   * @param roundTrip the addition to the round trip
   */
  public void setFurther(Duration roundTrip) {
    furtherNanos = roundTrip.toNanos() / 2;
  }

  /** The number of connections. */
  public int connectionCount() {
    return callers.size();
  }

  void close() {
    listener.close().syncUninterruptibly();
    cut();
  }

  private final class Accept extends ChannelInboundHandlerAdapter {
    @Override
    public void channelActive(ChannelHandlerContext ctx) {
      Channel caller = ctx.channel();
      if (blocked) {
        DelayedPipe.reset(caller);
        return;
      }
      callers.add(caller);
      LinkConnection connection = new LinkConnection(caller);
      var unused =
          links
              .callers()
              .callerOf((InetSocketAddress) caller.remoteAddress(), advertised)
              .thenAccept(
                  from -> caller.eventLoop().execute(() -> connect(connection, caller, from)));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
      var unused = ctx.close();
    }
  }

  private void connect(LinkConnection connection, Channel caller, ConnectionEnd from) {
    LongSupplier oneWayNanos = () -> links.oneWayNanos(from.host(), at.host()) + furtherNanos;
    Bootstrap onward =
        new Bootstrap()
            .group(caller.eventLoop())
            .channel(links.transport().channel())
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.ALLOW_HALF_CLOSURE, true)
            .option(ChannelOption.AUTO_READ, false)
            .localAddress(new InetSocketAddress(links.addressOf(from.host()), 0))
            .handler(new ChannelInboundHandlerAdapter());
    var unused =
        onward
            .connect(server)
            .addListener(
                (ChannelFuture connected) -> {
                  if (connected.isSuccess() && caller.isActive()) {
                    connection.join(
                        connected.channel(),
                        oneWayNanos,
                        links.lateness(),
                        links.counters().of(from, at),
                        links.counters().of(at, from));
                  } else {
                    DelayedPipe.reset(connected.channel());
                    DelayedPipe.reset(caller);
                  }
                });
  }
}
