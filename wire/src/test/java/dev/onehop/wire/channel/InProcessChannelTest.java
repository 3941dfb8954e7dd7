package dev.onehop.wire.channel;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class InProcessChannelTest {
  private final EventLoop loop = new DefaultEventLoop();
  private final Silent channel = new Silent();
  private final StringBuilder read = new StringBuilder();

  @AfterEach
  void close() {
    loop.shutdownGracefully();
  }

  /**
   * The driver's stream drops all references to a buffer if it times out before it has read the
   * whole reply.
   */
  @Test
  void releasedReplyKeepsSharedBuffer() throws Exception {
    ByteBuf received = Unpooled.copiedBuffer("first,second", StandardCharsets.UTF_8);
    ByteBuf first = received.readRetainedSlice(5);
    channel
        .pipeline()
        .addLast(
            new ChannelInboundHandlerAdapter() {
              @Override
              public void channelRead(ChannelHandlerContext context, Object message) {
                ByteBuf reply = (ByteBuf) message;
                read.append(reply.toString(StandardCharsets.UTF_8));
                reply.release(reply.refCnt());
              }
            });
    loop.register(channel).sync();

    loop.submit(() -> channel.deliver(first)).sync();

    assertThat(read).hasToString("first");
    assertThat(received.refCnt()).isEqualTo(1);
    assertThat(received.toString(StandardCharsets.UTF_8)).isEqualTo(",second");
    received.release();
  }

  private static final class Silent extends InProcessChannel {
    @Override
    protected boolean isCompatible(EventLoop any) {
      return true;
    }

    @Override
    protected void connect(InetSocketAddress address) {}

    @Override
    protected void take(ByteBuf message) {}

    @Override
    protected void closed() {}
  }
}
