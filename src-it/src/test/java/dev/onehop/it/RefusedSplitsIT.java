package dev.onehop.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ConnectionString;
import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.onehop.testbed.ExistingCluster;
import dev.onehop.testbed.Testbed;
import dev.onehop.testbed.topology.Topology;
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.Document;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A mongos refuses every split as stale, so the shard itself has to split the chunk. A mongos 5.0.7
 * in front of shards 6.0.5 refuses splits of chunks that were moved. In this test, a scripted
 * mongos in front of a testbed's real servers refuses them.
 */
@Tag("full")
class RefusedSplitsIT {
  private static final String TOPOLOGY =
      """
      name: refused-splits
      regions: [here]
      hosts:
        a: {region: here, address: 127.32.0.1}
        b: {region: here, address: 127.32.0.2}
      roundTrips:
        here <-> here: 0
      client: a
      configServers: [a]
      shards:
        one: [a]
        two: [b]
      mongos: [a]
      """;

  private static final BsonDocument HELLO =
      BsonDocument.parse(
          "{ok: 1, ismaster: true, isWritablePrimary: true, msg: 'isdbgrid', maxWireVersion: 13,"
              + " minWireVersion: 0, helloOk: true, maxBsonObjectSize: 16777216,"
              + " maxMessageSizeBytes: 48000000, maxWriteBatchSize: 100000}");

  private static Testbed testbed;

  private final AtomicInteger refused = new AtomicInteger();
  private EventLoopGroup group;
  private MongoClient realMongos;
  private String url;

  @BeforeAll
  static void startCluster() {
    testbed = Testbed.builder(Topology.parse("refused-splits.yaml", TOPOLOGY)).start();
  }

  @AfterAll
  static void stopCluster() {
    if (testbed != null) {
      testbed.close();
    }
  }

  @BeforeEach
  void startMongos() {
    realMongos = MongoClients.create(testbed.url());
    group = EventLoops.newGroup("scripted-mongos", 1);
    Channel listener =
        new ServerBootstrap()
            .group(group)
            .channel(EventLoops.serverChannelClass())
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(new WireFrames(), new ScriptedMongos());
                  }
                })
            .bind("127.0.0.1", 0)
            .syncUninterruptibly()
            .channel();
    url = "mongodb://127.0.0.1:" + ((InetSocketAddress) listener.localAddress()).getPort();
  }

  @AfterEach
  void stopMongos() {
    group.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
    realMongos.close();
  }

  @Test
  void splitsOnShardWhenMongosRefuses() {
    // The testbed moves the upper half to the other shard, so the chunk there is one that was
    // moved.
    testbed.shardCollection("it.refused", Numbered.KEY, Numbered.splitAt(100));

    try (ExistingCluster cluster = ExistingCluster.at(new ConnectionString(url), null)) {
      cluster.shardCollection("it.refused", Numbered.KEY, Numbered.splitAt(50, 100, 150));
    }

    assertThat(refused.get()).isBetween(2, 10);
    assertThat(lowerBounds("it.refused")).containsExactly(50, 100, 150);
  }

  private static List<Integer> lowerBounds(String namespace) {
    try (MongoClient client = MongoClients.create(testbed.url())) {
      Document entry =
          client
              .getDatabase("config")
              .getCollection("collections")
              .find(new Document("_id", namespace))
              .first();
      List<Integer> bounds = new ArrayList<>();
      client
          .getDatabase("config")
          .getCollection("chunks")
          .find(new Document("uuid", entry.get("uuid")))
          .sort(new Document("min", 1))
          .forEach(
              chunk -> {
                if (chunk.get("min", Document.class).get("_id") instanceof Integer bound) {
                  bounds.add(bound);
                }
              });
      return bounds;
    }
  }

  private BsonDocument replyTo(OpMsg request) {
    return switch (request.commandName()) {
      case "hello", "isMaster" -> HELLO.clone();
      case "enableSharding", "shardCollection" -> BsonDocument.parse("{ok: 1}");
      case "split" -> {
        refused.incrementAndGet();
        yield BsonDocument.parse(
            "{ok: 0, code: 13388, codeName: 'StaleConfig', errmsg: 'version mismatch detected'}");
      }
      default -> forward(request);
    };
  }

  private BsonDocument forward(OpMsg request) {
    BsonDocument command = new BsonDocument();
    command.putAll(request.body());
    List.of("$db", "lsid", "$clusterTime", "$readPreference").forEach(command::remove);
    try {
      return realMongos.getDatabase(request.database()).runCommand(command, BsonDocument.class);
    } catch (MongoCommandException e) {
      return e.getResponse();
    }
  }

  private final class ScriptedMongos extends SimpleChannelInboundHandler<ByteBuf> {
    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
      ByteBuf reply = context.alloc().buffer();
      if (LegacyHello.is(frame)) {
        LegacyHello.reply(frame, 1, HELLO, reply);
      } else {
        OpMsg request = OpMsg.decode(frame);
        request.reply(1, replyTo(request)).encode(reply);
      }
      context.writeAndFlush(reply);
    }
  }
}
