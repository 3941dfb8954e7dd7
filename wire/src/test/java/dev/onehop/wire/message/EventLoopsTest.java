package dev.onehop.wire.message;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.EventLoops;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EventLoopsTest {

  /**
   * A client that is closing may still use its connections, or open one. So the event loops end
   * only after the last connection.
   */
  @Test
  void eventLoopsTerminateAfterLastConnection() throws InterruptedException {
    try (ScriptedPeer server = ScriptedPeer.withHello((request, context) -> {})) {
      EventLoopGroup group = EventLoops.newGroup("ending", 2);
      Channel before = connect(group, server);
      EventLoops.shutDown(group);
      Channel after = connect(group, server);
      // The test has to wait for some seconds to see that the connections stay open.
      assertThat(before.closeFuture().await(3, TimeUnit.SECONDS)).isFalse();
      assertThat(after.isActive()).isTrue();
      assertThat(group.isShuttingDown()).isFalse();

      before.close().sync();
      after.close().sync();
      assertThat(group.terminationFuture().await(20, TimeUnit.SECONDS)).isTrue();
    }
  }

  private static Channel connect(EventLoopGroup group, ScriptedPeer server)
      throws InterruptedException {
    ServerAddressName address =
        ServerAddressName.parse(server.url().replaceFirst("mongodb://([^/]*).*", "$1"));
    ChannelHandler nothing = new ChannelInboundHandlerAdapter();
    return new Bootstrap()
        .group(group)
        .channel(EventLoops.socketChannelClass())
        .handler(nothing)
        .connect(address.host(), address.port())
        .sync()
        .channel();
  }
}
