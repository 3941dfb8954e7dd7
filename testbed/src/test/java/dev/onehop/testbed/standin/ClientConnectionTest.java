package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCommandException;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.shards.request.LocalCommands;
import dev.onehop.shards.request.RouterIdentity;
import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireFrames;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.util.ReferenceCountUtil;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** Every request over a socket gets a reply, even if the request fails. */
class ClientConnectionTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster =
      new ScriptedCluster(WIRE_6_0).routedBy(cluster -> new MongosRouter(cluster, false));
  private final AtomicBoolean unwritable = new AtomicBoolean();
  private final LocalCommands local = new LocalCommands(new Identity());

  private final class Identity implements RouterIdentity {
    @Override
    public ServerAddressName advertised() {
      return ServerAddressName.parse("router.test:27017");
    }

    @Override
    public String serverVersion() {
      return "6.0.5";
    }

    @Override
    public int maxWireVersion() {
      return WIRE_6_0;
    }

    @Override
    public Duration uptime() {
      return Duration.ZERO;
    }

    @Override
    public BsonDocument marks() {
      // BSON allows no NUL in a field name, so this document cannot be encoded.
      return new BsonDocument(unwritable.get() ? "a\0b" : "ab", new BsonInt32(1));
    }
  }

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void returnsErrorForUnencodableReply() {
    try (ScriptedPeer server = serving();
        MongoClient client = MongoClients.create(server.url())) {
      run(client.getDatabase("it").runCommand(new Document("buildInfo", 1)));
      unwritable.set(true);

      assertThatThrownBy(
              () -> run(client.getDatabase("it").runCommand(new Document("buildInfo", 1))))
          .isInstanceOf(MongoCommandException.class)
          .hasMessageContaining("InternalError");

      unwritable.set(false);
      assertThat(run(client.getDatabase("it").runCommand(new Document("buildInfo", 1))))
          .containsEntry("version", "6.0.5");
    }
  }

  @Test
  void returnsErrorForCommandWithoutReply() {
    try (ScriptedPeer server = serving();
        MongoClient client = MongoClients.create(server.url())) {
      run(client.getDatabase("it").getCollection("c").find(new Document("_id", 1)).first());
      cluster.selectNone();

      assertThatThrownBy(
              () ->
                  run(
                      client
                          .getDatabase("it")
                          .runCommand(Document.parse("{find: 'c', filter: {_id: 1}, let: {}}"))))
          .isInstanceOf(MongoCommandException.class)
          .hasMessageContaining("has no reply");
    }
  }

  /** With nested calls, thousands of replies would overflow the stack. */
  @Test
  void repliesToManyWaitingRequests() throws InterruptedException {
    int requests = 5_000;
    CountDownLatch answered = new CountDownLatch(requests + 1);
    ChannelOutboundHandlerAdapter replies =
        new ChannelOutboundHandlerAdapter() {
          @Override
          public void write(ChannelHandlerContext context, Object reply, ChannelPromise promise) {
            ReferenceCountUtil.release(reply);
            answered.countDown();
          }
        };
    // A real event loop, because an EmbeddedChannel accepts every thread as its loop's thread.
    EventLoopGroup group = new MultiThreadIoEventLoopGroup(1, LocalIoHandler.newFactory());
    try {
      LocalChannel channel = new LocalChannel();
      channel.pipeline().addLast(replies, new ClientConnection(cluster.router(), local));
      group.register(channel).syncUninterruptibly();
      channel
          .eventLoop()
          .submit(
              () -> {
                channel.pipeline().fireChannelActive();
                // The first request needs the cluster, so its reply comes after this task. Until
                // then, the other requests wait.
                channel.pipeline().fireChannelRead(request("find", 0));
                for (int i = 1; i <= requests; i++) {
                  channel.pipeline().fireChannelRead(request("ping", i));
                }
              })
          .syncUninterruptibly();

      assertThat(answered.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
          .as("all answered but %d", answered.getCount())
          .isTrue();
    } finally {
      group.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }

  private static ByteBuf request(String command, int id) {
    ByteBuf frame = Unpooled.buffer();
    OpMsg.command(
            new BsonDocument(command, new BsonString("c")).append("$db", new BsonString("it")))
        .withRequestId(id)
        .encode(frame);
    return frame;
  }

  private ScriptedPeer serving() {
    return ScriptedPeer.raw(
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            channel
                .pipeline()
                .addLast(new WireFrames(), new ClientConnection(cluster.router(), local));
          }
        });
  }

  private static <T> T run(Publisher<T> operation) {
    return Mono.from(operation).block(TIMEOUT);
  }
}
