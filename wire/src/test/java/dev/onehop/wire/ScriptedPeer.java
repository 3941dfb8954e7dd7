package dev.onehop.wire;

import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.message.LegacyHello;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireFrames;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt32;

/** A server that replies to hello like a mongod, and to other commands by the script of a test. */
public final class ScriptedPeer implements AutoCloseable {
  /** Handles a command other than hello. */
  public interface Script {
    void on(OpMsg request, ChannelHandlerContext context);
  }

  private final EventLoopGroup group = EventLoops.newGroup("scripted-peer", 1);
  // The connections, for the peer to close them. An event loop that shuts down may leave them open,
  // and their clients would then wait.
  private final ChannelGroup accepted = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
  private final Channel listener;

  /** A peer that replies to hello, and leaves other commands to its script. */
  public static ScriptedPeer withHello(Script script) {
    return new ScriptedPeer(
        0,
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            channel.pipeline().addLast(new WireFrames(), new Commands(script));
          }
        });
  }

  /** A peer that is no MongoDB server at all. */
  public static ScriptedPeer raw(ChannelInitializer<Channel> connections) {
    return raw(0, connections);
  }

  /**
   * Like {@link #raw(ChannelInitializer)}, on a port.
   *
   * @param port the port of the peer, 0 for any
   */
  public static ScriptedPeer raw(int port, ChannelInitializer<Channel> connections) {
    return new ScriptedPeer(port, connections);
  }

  private ScriptedPeer(int port, ChannelInitializer<Channel> connections) {
    listener =
        new ServerBootstrap()
            .group(group)
            .channel(EventLoops.serverChannelClass())
            .childHandler(
                new ChannelInitializer<>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    accepted.add(channel);
                    channel.pipeline().addLast(connections);
                  }
                })
            .bind("127.0.0.1", port)
            .syncUninterruptibly()
            .channel();
  }

  public String url() {
    return "mongodb://127.0.0.1:"
        + ((InetSocketAddress) listener.localAddress()).getPort()
        + "/?directConnection=true";
  }

  /** Writes {@code {ok: 1}} as the reply to a request. */
  public static void acknowledge(OpMsg request, ChannelHandlerContext context) {
    ByteBuf reply = context.alloc().buffer();
    request
        .reply(1, new BsonDocument("ok", new BsonInt32(1)).append("n", new BsonInt32(1)))
        .encode(reply);
    context.writeAndFlush(reply);
  }

  @Override
  public void close() {
    listener.close().syncUninterruptibly();
    accepted.close().awaitUninterruptibly();
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private static final class Commands extends SimpleChannelInboundHandler<ByteBuf> {
    private final Script script;

    Commands(Script script) {
      this.script = script;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
      if (LegacyHello.is(frame)) {
        ByteBuf reply = context.alloc().buffer();
        LegacyHello.reply(frame, 1, hello(), reply);
        context.writeAndFlush(reply);
        return;
      }
      OpMsg request = OpMsg.decode(frame);
      switch (request.commandName()) {
        case "hello", "isMaster" -> {
          ByteBuf reply = context.alloc().buffer();
          request.reply(1, hello()).encode(reply);
          context.writeAndFlush(reply);
        }
        case "endSessions" -> acknowledge(request, context);
        default -> script.on(request, context);
      }
    }

    private static BsonDocument hello() {
      return new BsonDocument("ok", new BsonInt32(1))
          .append("helloOk", BsonBoolean.TRUE)
          .append("isWritablePrimary", BsonBoolean.TRUE)
          .append("ismaster", BsonBoolean.TRUE)
          .append("minWireVersion", new BsonInt32(0))
          .append("connectionId", new BsonInt32(1))
          .append("maxWireVersion", new BsonInt32(17))
          .append("maxBsonObjectSize", new BsonInt32(16 * 1024 * 1024))
          .append("maxMessageSizeBytes", new BsonInt32(48_000_000))
          .append("maxWriteBatchSize", new BsonInt32(100_000))
          .append("localTime", new BsonDateTime(0));
    }
  }
}
