package dev.onehop.testbed.standin;

import dev.onehop.shards.request.LocalCommands;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.message.WireFrames;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/** The listening socket of a stand-in router. */
final class RouterServer {
  private final MongosRouter router;
  private final LocalCommands local;
  private final @Nullable FailCommand failures;

  /**
   * @param failures the fail point that clients can set; null if they can't set one
   */
  RouterServer(MongosRouter router, MongosHeartbeat registration, @Nullable FailCommand failures) {
    this.router = router;
    this.local = new LocalCommands(registration);
    this.failures = failures;
  }

  /**
   * Starts to listen.
   *
   * @throws IOException if the address can't be bound
   */
  void listen(EventLoopGroup group, InetSocketAddress address) throws IOException {
    ChannelFuture bound =
        new ServerBootstrap()
            .group(group)
            .channel(EventLoops.serverChannelClass())
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new WireFrames());
                    if (failures != null) {
                      channel.pipeline().addLast(failures.handler());
                    }
                    channel.pipeline().addLast(new ClientConnection(router, local));
                  }
                })
            .bind(address)
            .awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException("cannot listen on " + address + ": " + bound.cause().getMessage());
    }
  }
}
