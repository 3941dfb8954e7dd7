package dev.onehop.wire.connection;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.connection.SharingRules.Use;
import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import dev.onehop.wire.message.CommandHead;
import dev.onehop.wire.message.OpMsg;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The requests that share a socket, by command and options. */
class SharingRulesTest {
  private static final int MAX_SHARED_BYTES = 256 * 1024;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'c', filter: {_id: 1}}",
        "{find: 'c', filter: {_id: {a: 1}, x: {$gt: 1}}}",
        "{find: 'c', filter: {x: 1}, limit: 1, singleBatch: true}",
        "{find: 'c', filter: {}, limit: 50}",
        "{find: 'c', filter: {_id: 1}, maxTimeMS: 10000}",
        "{insert: 'c', documents: [{_id: 1}]}",
        "{update: 'c', updates: [{q: {_id: 1}, u: {$set: {a: 1}}}]}",
        "{update: 'c', updates: [{q: {_id: 1}, u: {$set: {a: 1}}, multi: false}]}",
        "{delete: 'c', deletes: [{q: {_id: 1}, limit: 1}]}",
        "{findAndModify: 'c', query: {_id: 1}, update: {$set: {a: 1}}}",
        "{count: 'c'}",
        "{count: 'c', query: {}}",
        "{killCursors: 'c', cursors: [1]}",
        "{abortTransaction: 1}",
        "{insert: 'c', documents: [], writeConcern: {w: 1}}",
        "{insert: 'c', documents: [], writeConcern: {w: 'majority', wtimeout: 100}}",
        "{find: 'c', filter: {_id: 1}, readConcern: {level: 'majority'}}",
        "{ping: 1}"
      })
  void shortCommandsShareConnections(String command) {
    assertThat(use(command)).isNotEqualTo(Use.OWN);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'c', filter: {}}",
        "{find: 'c', filter: {_id: {$gt: 1}}}",
        "{find: 'c', filter: {_id: {$regularExpression: {pattern: 'a', options: ''}}}}",
        "{find: 'c', filter: {$where: 'x', x: 1}}",
        "{find: 'c', filter: {_id: 1}, tailable: true, awaitData: true}",
        "{find: 'c', filter: {_id: 1}, maxTimeMS: 10001}",
        "{getMore: 1, collection: 'c'}",
        "{getMore: 1, collection: 'c', maxTimeMS: 1000}",
        "{aggregate: 'c', pipeline: [], cursor: {}}",
        "{aggregate: 'c', pipeline: [{$changeStream: {}}], cursor: {}}",
        "{count: 'c', query: {x: 1}}",
        "{distinct: 'c', key: 'x'}",
        "{update: 'c', updates: [{q: {}, u: {$set: {a: 1}}, multi: true}]}",
        "{delete: 'c', deletes: [{q: {_id: 1}, limit: 1}, {q: {}, limit: 0}]}",
        "{commitTransaction: 1}",
        "{abortTransaction: 1, txnNumber: 1, autocommit: false}",
        "{insert: 'c', documents: [], writeConcern: {w: 2}}",
        "{insert: 'c', documents: [], writeConcern: {w: 'twoRegions'}}",
        "{insert: 'c', documents: [], writeConcern: {w: {region: 2}}}",
        "{find: 'c', filter: {_id: 1}, readConcern: {level: 'linearizable'}}",
        "{createIndexes: 'c', indexes: []}",
        "{someCommandOfTheFuture: 1}"
      })
  void longCommandsDoNotShare(String command) {
    assertThat(use(command)).isEqualTo(Use.OWN);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{insert: 'c', documents: [{_id: 1}]}",
        "{insert: 'c', documents: [{_id: 1}], writeConcern: {w: 1}}",
        "{update: 'c', updates: [{q: {_id: 1}, u: {$set: {a: 1}}}]}",
        "{delete: 'c', deletes: [{q: {_id: 1}, limit: 1}]}",
        "{findAndModify: 'c', query: {_id: 1}, update: {$set: {a: 1}}}",
        "{find: 'c', filter: {x: 1}, limit: 1, maxTimeMS: 1000}",
        "{find: 'c', filter: {_id: 1}, readConcern: {afterClusterTime: {$timestamp: {t: 1, i: 1}}}}"
      })
  void commandsThatMayWaitShareSeparately(String command) {
    assertThat(use(command)).isEqualTo(Use.MAY_WAIT);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'c', filter: {_id: 1}}",
        "{find: 'c', filter: {_id: 1}, maxTimeMS: 1000, readConcern: {level: 'majority'}}",
        "{find: 'c', filter: {x: 1}, limit: 1}",
        "{insert: 'c', documents: [{_id: 1}], txnNumber: 1, autocommit: false}",
        "{killCursors: 'c', cursors: [1]}",
        "{ping: 1}"
      })
  void commandsThatNeverWaitAreQuick(String command) {
    assertThat(use(command)).isEqualTo(Use.QUICK);
  }

  @Test
  void readsStatementsInDocumentSequence() {
    OpMsg update = OpMsg.command(BsonDocument.parse("{update: 'c'}"));

    assertThat(use(update.withSequences(sequence("updates", "{q: {_id: 1}, u: {a: 1}}"))))
        .isEqualTo(Use.MAY_WAIT);
    assertThat(
            use(
                update.withSequences(
                    sequence("updates", "{q: {_id: 1}, u: {a: 1}}", "{q: {}, multi: true}"))))
        .isEqualTo(Use.OWN);
    assertThat(
            use(
                OpMsg.command(BsonDocument.parse("{insert: 'c'}"))
                    .withSequences(sequence("documents", "{multi: true, limit: 0}"))))
        .isEqualTo(Use.MAY_WAIT);
  }

  @Test
  void largeRequestDoesNotShare() {
    BsonDocument insert = BsonDocument.parse("{insert: 'c', documents: []}");
    String padding = "x".repeat(256 * 1024);

    assertThat(use(OpMsg.command(insert.append("comment", new BsonString(padding)))))
        .isEqualTo(Use.OWN);
  }

  @Test
  void exhaustCommandDoesNotShare() {
    OpMsg ping = OpMsg.command(BsonDocument.parse("{ping: 1}"));
    OpMsg exhaust = new OpMsg(1, 0, CommandHead.EXHAUST_ALLOWED, ping.body(), ping.sequences());

    assertThat(use(exhaust)).isEqualTo(Use.OWN);
  }

  @Test
  void requestWithoutReplyDoesNotShare() {
    OpMsg insert = OpMsg.command(BsonDocument.parse("{insert: 'c', documents: [{_id: 1}]}"));

    assertThat(use(new OpMsg(1, 0, OpMsg.MORE_TO_COME, insert.body(), insert.sequences())))
        .isEqualTo(Use.OWN);
  }

  @Test
  void unreadableMessageDoesNotShare() {
    ByteBuf message = encode(OpMsg.command(BsonDocument.parse("{ping: 1}")));
    for (int cut = 17; cut < message.readableBytes(); cut++) {
      ByteBuf part = message.copy(0, cut);
      assertThat(use(part)).as("%s bytes", cut).isEqualTo(Use.OWN);
    }
    message.release();
  }

  private Use use(String command) {
    return use(OpMsg.command(BsonDocument.parse(command).append("$db", new BsonString("d"))));
  }

  private Use use(OpMsg request) {
    return use(encode(request));
  }

  private Use use(ByteBuf message) {
    try {
      return SharingRules.use(CommandHead.read(message), MAX_SHARED_BYTES);
    } catch (MalformedDocumentException | IndexOutOfBoundsException e) {
      return SharingRules.use(null, MAX_SHARED_BYTES);
    } finally {
      message.release();
    }
  }

  private static ByteBuf encode(OpMsg request) {
    ByteBuf message = Unpooled.buffer();
    request.encode(message);
    return message;
  }

  private static List<OpMsg.Sequence> sequence(String name, String... documents) {
    return List.of(
        new OpMsg.Sequence(name, Arrays.stream(documents).map(RawBsonDocument::parse).toList()));
  }
}
