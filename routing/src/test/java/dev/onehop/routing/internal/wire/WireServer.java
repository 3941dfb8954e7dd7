package dev.onehop.routing.internal.wire;

import dev.onehop.routing.internal.handshake.HandshakeSettings;
import dev.onehop.routing.internal.handshake.Mechanism;
import dev.onehop.routing.transport.ScriptedPeer;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;

/** A server that answers what a test wants, and knows its connections; and clients of it. */
final class WireServer implements AutoCloseable {
  static final Duration TIMEOUT = Duration.ofSeconds(20);

  /** Answers a command on a connection; null for never. */
  interface Script {
    @Nullable BsonDocument answer(int connection, BsonDocument command);
  }

  final EventLoopGroup group = EventLoops.newGroup("wire-server-client", 2);
  final List<BsonDocument> seen = Collections.synchronizedList(new ArrayList<>());

  /** The op codes of requests that were no hello, and what answers them. */
  final List<Integer> opCodes = Collections.synchronizedList(new ArrayList<>());

  private final AtomicInteger accepted = new AtomicInteger();
  private final AtomicInteger open = new AtomicInteger();
  private final Script script;
  private final @Nullable Compressor compressing;
  private final ScriptedPeer peer;

  WireServer(Script script) {
    this(script, null);
  }

  /**
   * @param compressing compresses answers, null for none
   */
  WireServer(Script script, @Nullable Compressor compressing) {
    this.script = script;
    this.compressing = compressing;
    this.peer =
        ScriptedPeer.raw(
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                open.incrementAndGet();
                channel.closeFuture().addListener(closed -> open.decrementAndGet());
                channel
                    .pipeline()
                    .addLast(new WireFrames(), new Answers(accepted.incrementAndGet()));
              }
            });
  }

  static BsonDocument ok() {
    return new BsonDocument("ok", new BsonInt32(1));
  }

  static OpMsg ping() {
    return OpMsg.command(BsonDocument.parse("{ping: 1, $db: 'admin'}"));
  }

  ServerAddressName name() {
    return ServerAddressName.parse(peer.url().replaceFirst("mongodb://([^/]*).*", "$1"));
  }

  /** How many connections there ever were. */
  int accepted() {
    return accepted.get();
  }

  int open() {
    return open.get();
  }

  WirePool pool(WireSettings.PoolLimits limits) {
    return pool(limits, null, null, List.of());
  }

  WirePool pool(
      WireSettings.PoolLimits limits,
      @Nullable Mechanism mechanism,
      WireSettings.@Nullable Proxy proxy,
      List<Compressor> compressors) {
    return new WirePool(
        group,
        new WireSettings(
            new WireSettings.Sockets(
                EventLoops.socketChannelClass(), null, Duration.ofSeconds(10), 0, 0, proxy),
            limits,
            null,
            new HandshakeSettings(
                new BsonDocument(), compressors.stream().map(Compressor::name).toList(), mechanism),
            compressors,
            new Addresses(Addresses.Lookup.SYSTEM, Map.of())));
  }

  static WireSettings.PoolLimits unlimited() {
    return WireSettings.PoolLimits.none(TIMEOUT);
  }

  @Override
  public void close() {
    peer.close();
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private final class Answers extends SimpleChannelInboundHandler<ByteBuf> {
    private final int connection;

    Answers(int connection) {
      this.connection = connection;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) throws IOException {
      boolean compressed = CompressedMessages.isCompressed(frame);
      opCodes.add(frame.getIntLE(12));
      OpMsg request = OpMsg.decode(compressed ? CompressedMessages.expandWhole(frame) : frame);
      seen.add(request.body());
      BsonDocument answer = script.answer(connection, request.body());
      if (answer != null) {
        ByteBuf reply = context.alloc().buffer();
        request.reply(1, answer).encode(reply);
        context.writeAndFlush(
            compressed && compressing != null ? compressing.compress(reply) : reply);
      }
    }
  }
}
