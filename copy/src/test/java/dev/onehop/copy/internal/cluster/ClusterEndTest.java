package dev.onehop.copy.internal.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.message.LegacyHello;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.WireFrames;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import java.net.InetSocketAddress;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a replica set of one scripted member takes and tells. */
class ClusterEndTest {

  private static ScriptedPeer member(int maxWireVersion, String compatibility) {
    return ScriptedPeer.raw(
        new ChannelInitializer<>() {
          @Override
          protected void initChannel(Channel channel) {
            int port = ((InetSocketAddress) channel.localAddress()).getPort();
            BsonDocument hello =
                BsonDocument.parse(
                    """
                    {ok: 1, helloOk: true, isWritablePrimary: true, ismaster: true, minWireVersion: 0,
                     maxWireVersion: %d, setName: 'rs', me: '127.0.0.1:%d', primary: '127.0.0.1:%2$d',
                     hosts: ['127.0.0.1:%2$d'], maxBsonObjectSize: 16777216,
                     maxMessageSizeBytes: 48000000, maxWriteBatchSize: 100000}
                    """
                        .formatted(maxWireVersion, port));
            channel.pipeline().addLast(new WireFrames(), new Answers(hello, compatibility));
          }
        });
  }

  private static final class Answers extends SimpleChannelInboundHandler<ByteBuf> {
    private final BsonDocument hello;
    private final String compatibility;

    Answers(BsonDocument hello, String compatibility) {
      this.hello = hello;
      this.compatibility = compatibility;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf frame) {
      ByteBuf reply = context.alloc().buffer();
      if (LegacyHello.is(frame)) {
        LegacyHello.reply(frame, 1, hello, reply);
      } else {
        OpMsg request = OpMsg.decode(frame);
        BsonDocument answer =
            switch (request.commandName()) {
              case "hello", "isMaster" -> hello.clone();
              case "find" ->
                  BsonDocument.parse(
                      "{ok: 1, cursor: {id: NumberLong(0), ns: 'admin.system.version', firstBatch:"
                          + " [{_id: 'featureCompatibilityVersion', version: '%s'}]}}"
                              .formatted(compatibility));
              default -> BsonDocument.parse("{ok: 1}");
            };
        request.reply(1, answer).encode(reply);
      }
      context.writeAndFlush(reply);
    }
  }

  private static ClusterEnd connect(ScriptedPeer member) throws InterruptedException {
    return ClusterEnd.connect(
        "source", member.url().replace("directConnection=true", ""), settings -> {}, false, 1);
  }

  @ParameterizedTest
  @CsvSource({"13, 5.0, false, false", "17, 5.0, false, true", "17, 6.0, true, true"})
  void whatIsSentIsWhatServersKnow(
      int maxWireVersion, String compatibility, boolean uuids, boolean creations)
      throws InterruptedException {
    try (ScriptedPeer member = member(maxWireVersion, compatibility);
        ClusterEnd end = connect(member)) {
      end.checkVersion();
      assertThat(end.takesUuids()).isEqualTo(uuids);
      assertThat(end.tellsCreations()).isEqualTo(creations);
    }
  }

  @Test
  void aRefusedUuidIsSentNoMore() throws InterruptedException {
    try (ScriptedPeer member = member(17, "6.0");
        ClusterEnd end = connect(member)) {
      end.checkVersion();
      assertThat(end.isUuidRefused(BsonDocument.parse("{ok: 0, code: 72, errmsg: 'Bad option'}")))
          .isFalse();
      assertThat(end.takesUuids()).isTrue();
      assertThat(
              end.isUuidRefused(
                  BsonDocument.parse(
                      "{ok: 0, code: 40415, errmsg: \"BSON field 'drop.collectionUUID' is an unknown"
                          + " field.\"}")))
          .isTrue();
      assertThat(end.takesUuids()).isFalse();
    }
  }
}
