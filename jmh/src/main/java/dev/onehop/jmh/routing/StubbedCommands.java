package dev.onehop.jmh.routing;

import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireFrames;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Promise;
import java.net.InetSocketAddress;
import java.util.function.Function;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * Sends pre-encoded commands one after the other, to a stubbed mongos or to a router for the
 * stubbed cluster.
 */
final class StubbedCommands implements AutoCloseable {
  private final StubServers.@Nullable Router router;
  private final Channel channel;
  private final Answers answers = new Answers();

  /**
   * Connects, and waits until the router has all metadata.
   *
   * @param kind {@code plain}, {@code routed} or {@code metered}
   * @param first commands that make the router read its metadata
   */
  StubbedCommands(String kind, EventLoopGroup group, ByteBuf[] first) {
    router = kind.equals("plain") ? null : new StubServers.Router(group, kind.equals("metered"));
    channel =
        (router == null
                ? new Bootstrap().group(group).channel(StubChannel.class)
                : router.routed().channels())
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel made) {
                    made.pipeline().addLast(new WireFrames(), answers);
                  }
                })
            .connect(new InetSocketAddress(StubServers.named("h0"), StubMetadata.MONGOS_PORT))
            .syncUninterruptibly()
            .channel();
    run(first);
    if (router != null) {
      router.awaitAffinity();
    }
  }

  /**
   * Encodes a command for each chunk.
   *
   * @param body creates the body of the command for a key
   */
  static ByteBuf[] commands(Function<BsonString, BsonDocument> body) {
    StubKeys keys = new StubKeys();
    ByteBuf[] commands = new ByteBuf[StubMetadata.CHUNKS];
    for (int i = 0; i < commands.length; i++) {
      BsonDocument command = body.apply(new BsonString(keys.next()));
      ByteBuf bytes = Unpooled.buffer();
      OpMsg.command(command.append("$db", new BsonString("ycsb"))).encode(bytes);
      commands[i] = Unpooled.unreleasableBuffer(bytes);
    }
    return commands;
  }

  /** Sends all commands, each after the reply to the previous command. */
  void run(ByteBuf[] commands) {
    Promise<Void> done = channel.eventLoop().newPromise();
    channel.eventLoop().execute(() -> answers.begin(commands, done));
    done.syncUninterruptibly();
  }

  @Override
  public void close() {
    channel.close().syncUninterruptibly();
    if (router != null) {
      router.close();
    }
  }

  private final class Answers extends SimpleChannelInboundHandler<ByteBuf> {
    private ByteBuf[] commands = {};
    private @Nullable Promise<Void> done;
    private int next;

    void begin(ByteBuf[] asked, Promise<Void> whenDone) {
      commands = asked;
      done = whenDone;
      next = 0;
      send();
    }

    private void send() {
      ByteBuf command = commands[next++];
      ByteBuf copy = channel.alloc().buffer(command.readableBytes());
      copy.writeBytes(command, 0, command.readableBytes());
      channel.writeAndFlush(copy, channel.voidPromise());
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf answer) {
      if (next < commands.length) {
        // A new task sends the next command. If the handler of a reply sent it, each command would
        // make the call stack deeper.
        channel.eventLoop().execute(this::send);
      } else if (done != null) {
        done.setSuccess(null);
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      if (done != null) {
        done.tryFailure(cause);
      }
    }
  }
}
