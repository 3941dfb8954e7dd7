package dev.onehop.testbed.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.ConnectionString;
import dev.onehop.testbed.TestbedException;
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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The commands for a mongos, in the format of its documentation. */
class MongosCommandsTest {
  private static final BsonDocument HELLO =
      BsonDocument.parse(
          "{ok: 1, ismaster: true, isWritablePrimary: true, msg: 'isdbgrid', maxWireVersion: 25,"
              + " minWireVersion: 0, helloOk: true, maxBsonObjectSize: 16777216,"
              + " maxMessageSizeBytes: 48000000, maxWriteBatchSize: 100000}");

  private final List<BsonDocument> received = new CopyOnWriteArrayList<>();
  private final Map<String, BsonDocument> answers = new ConcurrentHashMap<>();
  private final Map<String, BsonDocument> databases = new ConcurrentHashMap<>();
  private EventLoopGroup group;
  private Admin admin;
  private MongosCommands mongos;

  @BeforeEach
  void start() {
    group = EventLoops.newGroup("fake-mongos", 1);
    Channel listener =
        new ServerBootstrap()
            .group(group)
            .channel(EventLoops.serverChannelClass())
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new WireFrames(), new FakeMongos());
                  }
                })
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .syncUninterruptibly()
            .channel();
    int port = ((InetSocketAddress) listener.localAddress()).getPort();
    admin = Admin.of(new ConnectionString("mongodb://127.0.0.1:" + port), Credentials.OPEN);
    mongos = new MongosCommands(admin, databases::get);
  }

  @AfterEach
  void stop() {
    admin.close();
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  @Test
  void createsDatabaseAndShardsCollection() {
    mongos.stopBalancer();
    mongos.create("ycsb", "usertable", "shard-va", json("{_id: 'hashed'}"), 12);

    assertThat(received)
        .containsExactly(
            json("{balancerStop: 1, $db: 'admin'}"),
            json("{enableSharding: 'ycsb', primaryShard: 'shard-va', $db: 'admin'}"),
            json(
                "{shardCollection: 'ycsb.usertable', key: {_id: 'hashed'}, numInitialChunks: 12,"
                    + " $db: 'admin'}"));
  }

  @Test
  void existingDatabaseKeepsPrimary() {
    databases.put("ycsb", json("{_id: 'ycsb', primary: 'shard-or'}"));

    mongos.create("ycsb", "usertable", "shard-va", json("{_id: 1}"), null);

    assertThat(received)
        .containsExactly(
            json("{enableSharding: 'ycsb', primaryShard: 'shard-or', $db: 'admin'}"),
            json("{shardCollection: 'ycsb.usertable', key: {_id: 1}, $db: 'admin'}"));
  }

  @Test
  void splitsChunkAtOnePointPerCommand() {
    ChunkRange chunk = new ChunkRange(json("{_id: 0}"), json("{_id: 9}"), "shard-va");

    mongos.split(
        "d.c", json("{}"), chunk, new BsonArray(List.of(json("{_id: 3}"), json("{_id: 6}"))));

    assertThat(received)
        .containsExactly(
            json("{split: 'd.c', middle: {_id: 3}, $db: 'admin'}"),
            json("{split: 'd.c', middle: {_id: 6}, $db: 'admin'}"));
  }

  @Test
  void usesMoveChunkIfMoveRangeIsUnknown() {
    mongos.move("d.c", json("{_id: 3}"), json("{_id: 6}"), "shard-or");
    answers.put("moveRange", json("{ok: 0, code: 59, codeName: 'CommandNotFound', errmsg: 'no'}"));
    mongos.move("d.c", json("{_id: 3}"), null, "shard-ca");

    assertThat(received)
        .containsExactly(
            json(
                "{moveRange: 'd.c', toShard: 'shard-or', min: {_id: 3}, max: {_id: 6},"
                    + " $db: 'admin'}"),
            json("{moveRange: 'd.c', toShard: 'shard-ca', min: {_id: 3}, $db: 'admin'}"),
            json("{moveChunk: 'd.c', find: {_id: 3}, to: 'shard-ca', $db: 'admin'}"));
  }

  @Test
  void dropIgnoresMissingCollectionAndReportsOtherErrors() {
    answers.put("drop", json("{ok: 0, code: 26, codeName: 'NamespaceNotFound', errmsg: 'no'}"));
    mongos.drop("d", "c");
    answers.put("drop", json("{ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not you'}"));

    assertThatThrownBy(() -> mongos.drop("d", "c"))
        .isInstanceOf(TestbedException.class)
        .hasMessageContaining("refused drop: ")
        .hasMessageContaining("not you");
    assertThat(received).hasSize(2).allMatch(json("{drop: 'c', $db: 'd'}")::equals);
  }

  private static BsonDocument json(String text) {
    return BsonDocument.parse(text);
  }

  /** Replies to hello as a mongos. Accepts other commands, except those that the test refuses. */
  private final class FakeMongos extends SimpleChannelInboundHandler<ByteBuf> {
    private int replies;

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
      ByteBuf out = context.alloc().buffer();
      if (LegacyHello.is(frame)) {
        LegacyHello.reply(frame, ++replies, HELLO, out);
      } else {
        OpMsg request = OpMsg.decode(frame);
        request.reply(++replies, answer(request)).encode(out);
      }
      context.writeAndFlush(out, context.voidPromise());
    }

    private BsonDocument answer(OpMsg request) {
      String name = request.commandName();
      if (name.equals("hello") || name.equals("isMaster") || name.equals("ismaster")) {
        return HELLO;
      }
      if (!name.equals("endSessions")) {
        BsonDocument command = new BsonDocument(); // a raw document can't be changed
        command.putAll(request.body());
        List.of("lsid", "$clusterTime", "$readPreference").forEach(command::remove);
        received.add(command);
      }
      return answers.getOrDefault(name, new BsonDocument("ok", new BsonInt32(1)));
    }
  }
}
