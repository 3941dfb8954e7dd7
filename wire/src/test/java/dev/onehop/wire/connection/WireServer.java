package dev.onehop.wire.connection;

import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.channel.CallerWritesChannel;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.handshake.HandshakeSettings;
import dev.onehop.wire.handshake.Mechanism;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireFrames;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
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
import reactor.core.publisher.Mono;

/**
 * A server that replies by the script of a test and numbers its connections, and clients of this
 * server.
 */
final class WireServer implements AutoCloseable {
  static final Duration TIMEOUT = Duration.ofSeconds(20);

  /** Returns the reply to a command on a connection; null for no reply. */
  interface Script {
    /** In place of a reply: the server closes the connection. */
    BsonDocument HANG_UP = BsonDocument.parse("{hangUp: 1}");

    @Nullable BsonDocument answer(int connection, BsonDocument command);
  }

  final EventLoopGroup group = EventLoops.newGroup("wire-server-client", 2);
  private final EventLoopGroup callers = EventLoops.newCallerWritesGroup("wire-server-callers", 2);
  final List<BsonDocument> seen = Collections.synchronizedList(new ArrayList<>());

  /** The op codes of the requests other than hello. */
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
   * @param compressing compresses replies, null for no compression
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

  /** The number of connections that the server has accepted. */
  int accepted() {
    return accepted.get();
  }

  int open() {
    return open.get();
  }

  /** The kinds of pools. A test with several kinds expects the same behaviour from each kind. */
  enum Kind {
    EVENT_LOOP,
    /** Like {@link #EVENT_LOOP}, and the sending threads write to the sockets. */
    CALLER_WRITES,
    /** Like {@link #EVENT_LOOP}, and pings share two connections. */
    SHARED,
    BLOCKING
  }

  /** Sends requests over a pool of connections. */
  interface Client extends AutoCloseable {
    Mono<OpMsg> send(ServerAddressName server, OpMsg request);

    void reset(ServerAddressName server, boolean interrupt, IOException why);

    @Override
    void close();
  }

  Client pool(Kind kind, WireSettings.PoolLimits limits) {
    return pool(kind, limits, null, null, List.of());
  }

  Client pool(
      Kind kind,
      WireSettings.PoolLimits limits,
      @Nullable Mechanism mechanism,
      WireSettings.@Nullable Proxy proxy,
      List<Compressor> compressors) {
    WireSettings settings = settings(kind, limits, mechanism, proxy, compressors);
    return pool(kind, settings);
  }

  Client pool(Kind kind, WireSettings settings) {
    return kind == Kind.BLOCKING
        ? new BlockingClient(new BlockingPool(settings, group))
        : new LoopClient(new WirePool(kind == Kind.EVENT_LOOP ? group : callers, settings));
  }

  /** A blocking pool and a pool on event loops, which together keep to the limits. */
  Map<Kind, Client> pools(WireSettings.PoolLimits limits) {
    Connections connections =
        new Connections(group, settings(Kind.EVENT_LOOP, limits, null, null, List.of()));
    return Map.of(
        Kind.BLOCKING, new BlockingClient(connections.blocking()),
        Kind.EVENT_LOOP, new LoopClient(connections.onEventLoops()));
  }

  static WireSettings settings(
      Kind kind,
      WireSettings.PoolLimits limits,
      @Nullable Mechanism mechanism,
      WireSettings.@Nullable Proxy proxy,
      List<Compressor> compressors) {
    return new WireSettings(
        new WireSettings.Sockets(
            kind == Kind.EVENT_LOOP ? EventLoops.socketChannelClass() : CallerWritesChannel.class,
            null,
            Duration.ofSeconds(10),
            0,
            0,
            proxy),
        limits,
        null,
        new HandshakeSettings(
            new BsonDocument(), compressors.stream().map(Compressor::name).toList(), mechanism),
        compressors,
        new Addresses(Addresses.Lookup.SYSTEM, Map.of()),
        kind == Kind.SHARED
            ? new WireSettings.Sharing(2, 64, 1 << 18, new SimpleMeterRegistry())
            : null);
  }

  private record LoopClient(WirePool pool) implements Client {
    @Override
    public Mono<OpMsg> send(ServerAddressName server, OpMsg request) {
      return pool.send(server, request);
    }

    @Override
    public void reset(ServerAddressName server, boolean interrupt, IOException why) {
      pool.reset(server, interrupt, why);
    }

    @Override
    public void close() {
      pool.close();
    }
  }

  /** A client that starts a thread for each request. */
  private record BlockingClient(BlockingPool pool) implements Client {
    @Override
    public Mono<OpMsg> send(ServerAddressName server, OpMsg request) {
      return Mono.create(
          sink -> {
            Cancellation abort = new Cancellation();
            sink.onCancel(abort::abort);
            Thread thread =
                new Thread(
                    () -> {
                      try {
                        sink.success(exchange(server, request, abort));
                      } catch (IOException | RuntimeException e) {
                        sink.error(e);
                      }
                    });
            thread.setDaemon(true);
            thread.start();
          });
    }

    @Override
    public void reset(ServerAddressName server, boolean interrupt, IOException why) {
      pool.reset(server, interrupt, why);
    }

    private OpMsg exchange(ServerAddressName server, OpMsg request, Cancellation abort)
        throws IOException {
      BlockingConnection connection = pool.take(server, TimeLimit.NONE, abort);
      ByteBuf reply = UnpooledByteBufAllocator.DEFAULT.heapBuffer();
      try {
        ByteBuf message = UnpooledByteBufAllocator.DEFAULT.heapBuffer();
        request.encode(message);
        connection.send(message);
        connection.receive(reply, TimeLimit.NONE);
      } catch (IOException e) {
        pool.broken(connection);
        throw e;
      } catch (ServerRefusedException e) {
        pool.discard(connection);
        throw e;
      }
      abort.clear();
      pool.giveBack(connection);
      return OpMsg.decode(reply);
    }

    @Override
    public void close() {
      pool.close();
    }
  }

  static WireSettings.PoolLimits unlimited() {
    return WireSettings.PoolLimits.none(TIMEOUT);
  }

  @Override
  public void close() {
    peer.close();
    callers.shutdownGracefully(0, 1, TimeUnit.SECONDS);
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
      if (Script.HANG_UP.equals(answer)) {
        context.close();
      } else if (answer != null) {
        ByteBuf reply = context.alloc().buffer();
        request.reply(1, answer).encode(reply);
        context.writeAndFlush(
            compressed && compressing != null ? compressing.compress(reply) : reply);
      }
    }
  }
}
