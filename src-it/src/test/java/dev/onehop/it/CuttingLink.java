package dev.onehop.it;

import dev.onehop.wire.channel.EventLoops;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.util.ReferenceCountUtil;
import java.net.InetSocketAddress;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A link to a server. It delays all data, and cuts connections at random. */
final class CuttingLink implements AutoCloseable {
  private final EventLoopGroup group = EventLoops.newGroup("link", 1);
  private final Random random;
  private final int meanMillisBetweenCuts;
  private final AtomicInteger cuts = new AtomicInteger();
  private final Channel listener;
  private volatile boolean cutting = true;

  /**
   * @param meanMillisBetweenCuts the mean time until a connection is cut; the longest time is twice
   *     the mean
   */
  CuttingLink(int target, int delayMillis, int meanMillisBetweenCuts, long seed) {
    this("127.0.0.1", target, delayMillis, meanMillisBetweenCuts, seed);
  }

  private CuttingLink(
      String host, int port, int delayMillis, int meanMillisBetweenCuts, long seed) {
    this.random = new Random(seed);
    this.meanMillisBetweenCuts = meanMillisBetweenCuts;
    this.listener =
        new ServerBootstrap()
            .group(group)
            .channel(EventLoops.serverChannelClass())
            .childOption(ChannelOption.AUTO_READ, false)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel near) {
                    join(near, host, port, delayMillis);
                  }
                })
            .bind("127.0.0.1", 0)
            .syncUninterruptibly()
            .channel();
  }

  /** A link that neither delays data nor cuts connections. */
  static CuttingLink uncut(String host, int port) {
    CuttingLink link = new CuttingLink(host, port, 0, 1_000_000_000, 1);
    link.stopCutting();
    return link;
  }

  int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  int cuts() {
    return cuts.get();
  }

  void stopCutting() {
    cutting = false;
  }

  private void join(Channel near, String host, int port, int delayMillis) {
    Channel far =
        new Bootstrap()
            .group(near.eventLoop())
            .channel(EventLoops.socketChannelClass())
            .handler(new Forward(near, delayMillis))
            .connect(host, port)
            .addListener(
                connected -> {
                  if (connected.isSuccess()) {
                    near.config().setAutoRead(true);
                  } else {
                    near.close();
                  }
                })
            .channel();
    near.pipeline().addLast(new Forward(far, delayMillis));
    int after = 1 + random.nextInt(2 * meanMillisBetweenCuts);
    near.eventLoop()
        .schedule(
            () -> {
              if (cutting && near.isActive()) {
                cuts.incrementAndGet();
                // With this option, the close sends a reset, so data in flight may be lost.
                near.config().setOption(ChannelOption.SO_LINGER, 0);
                near.close();
                far.close();
              }
            },
            after,
            TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    listener.close().syncUninterruptibly();
    group.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private static final class Forward extends ChannelInboundHandlerAdapter {
    private final Channel to;
    private final int delayMillis;

    Forward(Channel to, int delayMillis) {
      this.to = to;
      this.delayMillis = delayMillis;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) {
      context
          .executor()
          .schedule(
              () -> {
                if (to.isActive()) {
                  to.writeAndFlush(bytes);
                } else {
                  ReferenceCountUtil.release(bytes);
                }
              },
              delayMillis,
              TimeUnit.MILLISECONDS);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      to.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      context.close();
    }
  }
}
