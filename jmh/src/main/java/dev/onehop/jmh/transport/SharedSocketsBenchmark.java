package dev.onehop.jmh.transport;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.connection.TransportSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import com.mongodb.reactivestreams.client.MongoDatabase;
import dev.onehop.jmh.check.Bar;
import dev.onehop.routing.OneHop;
import dev.onehop.routing.RoutingMode;
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
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import org.bson.BsonDocument;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import reactor.core.publisher.Flux;

/**
 * The cost of the transport. The official reactive driver sends concurrent pings to a server in
 * this process, which replies at once.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class SharedSocketsBenchmark {
  private static final int SOCKETS = 5;
  private static final int UNDER_WAY = 64;
  private static final int PINGS = 1_000;

  /** {@code pool5} and {@code pool100}: the driver's pools; {@code shared}: 5 shared sockets. */
  @Param({"pool5", "pool100", "shared"})
  String transport = "";

  private @Nullable EventLoopGroup serverLoops;
  private @Nullable EventLoopGroup clientLoops;
  private @Nullable MongoClient client;
  private @Nullable MongoDatabase database;

  @Setup
  public void connect() {
    EventLoopGroup loops = EventLoops.newGroup("server", 1);
    serverLoops = loops;
    Channel listener =
        new ServerBootstrap()
            .group(loops)
            .channel(EventLoops.serverChannelClass())
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new WireFrames(), new Echo());
                  }
                })
            .bind("127.0.0.1", 0)
            .syncUninterruptibly()
            .channel();
    int port = ((InetSocketAddress) listener.localAddress()).getPort();
    String uri = "mongodb://127.0.0.1:" + port + "/?directConnection=true";
    MongoClient created = transport.equals("shared") ? shared(uri) : plain(uri);
    client = created;
    database = created.getDatabase("d");
  }

  private static MongoClient shared(String uri) {
    return OneHop.builder(uri)
        .routing(RoutingMode.NONE)
        .pipelining(sockets -> sockets.socketsPerServer(SOCKETS))
        .client(MongoClient.class);
  }

  private MongoClient plain(String uri) {
    EventLoopGroup own = EventLoops.newGroup("client", 1);
    clientLoops = own;
    int size = Integer.parseInt(transport.substring("pool".length()));
    return MongoClients.create(
        MongoClientSettings.builder()
            .applyConnectionString(new ConnectionString(uri))
            .transportSettings(
                TransportSettings.nettyBuilder()
                    .eventLoopGroup(own)
                    .socketChannelClass(EventLoops.socketChannelClass())
                    .build())
            .applyToConnectionPoolSettings(pool -> pool.maxSize(size))
            .build());
  }

  @TearDown
  public void close() {
    if (client != null) {
      client.close();
    }
    if (clientLoops != null) {
      clientLoops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
    if (serverLoops != null) {
      serverLoops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }

  // Shared sockets are 1.2 to 1.7 times as fast as the pool of 5 on a quiet machine. If the machine
  // also runs builds, they are at least 0.8 times as fast.
  @Bar(
      name = "shared sockets",
      parameters = "transport=shared",
      baselineParameters = "transport=pool5",
      atLeast = 0.5,
      warmup = @Warmup(iterations = 2, time = 1),
      measurement = @Measurement(iterations = 3, time = 500, timeUnit = TimeUnit.MILLISECONDS))
  @Benchmark
  @OperationsPerInvocation(PINGS)
  public @Nullable Document pings() {
    MongoDatabase here = database;
    if (here == null) {
      throw new IllegalStateException("the client is not connected");
    }
    Document ping = new Document("ping", 1);
    return Flux.range(0, PINGS).flatMap(n -> here.runCommand(ping), UNDER_WAY).blockLast();
  }

  private static final class Echo extends SimpleChannelInboundHandler<ByteBuf> {
    private static final BsonDocument OK = BsonDocument.parse("{ok: 1}");
    private static final BsonDocument HELLO =
        BsonDocument.parse(
            "{ok: 1, helloOk: true, isWritablePrimary: true, ismaster: true, minWireVersion: 0,"
                + " maxWireVersion: 17, maxBsonObjectSize: 16777216,"
                + " maxMessageSizeBytes: 48000000, maxWriteBatchSize: 100000}");

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
      ByteBuf reply = context.alloc().buffer();
      if (LegacyHello.is(frame)) {
        LegacyHello.reply(frame, 1, HELLO, reply);
      } else {
        OpMsg request = OpMsg.decode(frame);
        boolean hello = request.body().containsKey("helloOk");
        request.reply(1, hello ? HELLO : OK).encode(reply);
      }
      context.write(reply, context.voidPromise());
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
      context.flush();
    }
  }
}
