package dev.onehop.streams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.mongodb.MongoCommandException;
import dev.onehop.wire.ScriptedPeer;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import org.bson.BsonDocument;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;

/**
 * For an error of a server, the stream fails with the driver's MongoCommandException, which has the
 * server's reply.
 */
class GetMoreErrorTest {

  @ParameterizedTest
  @ValueSource(strings = {"aggregate", "getMore"})
  void exceptionHasReplyOfServer(String failing) {
    try (ScriptedPeer peer =
        ScriptedPeer.withHello((request, context) -> answer(failing, request, context))) {
      Throwable failure =
          catchThrowable(
              () ->
                  Flux.from(
                          ShardedChangeStream.builder(peer.url())
                              .collection("it", "c")
                              .build()
                              .events())
                      .blockLast(Duration.ofSeconds(20)));
      Throwable cause = Exceptions.unwrap(failure);
      assertThat(cause)
          .isInstanceOfSatisfying(
              MongoCommandException.class,
              e ->
                  assertThat(e.getResponse().getString("codeName").getValue())
                      .isEqualTo("ChangeStreamFatalError"));
    }
  }

  private static void answer(String failing, OpMsg request, ChannelHandlerContext context) {
    BsonDocument reply =
        request.commandName().equals(failing)
            ? BsonDocument.parse(
                "{ok: 0, code: 280, codeName: 'ChangeStreamFatalError', errmsg: 'why'}")
            : switch (request.commandName()) {
              case "find" ->
                  BsonDocument.parse(
                      "{ok: 1, cursor: {id: {$numberLong: '0'}, ns: 'admin.system.version',"
                          + " firstBatch: [{_id: 'featureCompatibilityVersion', version:"
                          + " '6.0'}]}}");
              case "aggregate" ->
                  BsonDocument.parse(
                      "{ok: 1, cursor: {id: {$numberLong: '7'}, ns: 'it.c', firstBatch: [],"
                          + " postBatchResumeToken: {_data:"
                          + " '826500000000000001"
                          + "2B0429296E1404'}}}");
              default -> BsonDocument.parse("{ok: 1}");
            };
    reply.append(
        "$clusterTime",
        BsonDocument.parse(
            "{clusterTime: {$timestamp: {t: 1694498816, i: 1}}, signature: {hash: {$binary: {base64:"
                + " 'AAAAAAAAAAAAAAAAAAAAAAAAAAA=', subType: '00'}}, keyId: {$numberLong:"
                + " '0'}}}"));
    ByteBuf out = context.alloc().buffer();
    request.reply(1, reply).encode(out);
    context.writeAndFlush(out);
  }
}
