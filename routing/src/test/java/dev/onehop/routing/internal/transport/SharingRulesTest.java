package dev.onehop.routing.internal.transport;

import static org.assertj.core.api.Assertions.assertThat;

import com.github.luben.zstd.Zstd;
import dev.onehop.routing.internal.transport.SharingRules.Use;
import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.transport.PipeliningSettings;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.zip.Deflater;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.xerial.snappy.Snappy;

/** Which requests share a socket, by command and options. */
class SharingRulesTest {
  private final SharingRules rules = new SharingRules(PipeliningSettings.builder().build());

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
  void shortCommandsShare(String command) {
    assertThat(use(command)).isEqualTo(Use.SHARED);
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
  void whatMayTakeLongDoesNotShare(String command) {
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
  void whatMayWaitForOthersSharesWithItsLike(String command) {
    assertThat(use(command)).isEqualTo(Use.SHARED);
    assertThat(mayWait(command)).isTrue();
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
  void whatWaitsForNothingComesBehindNothingThatDoes(String command) {
    assertThat(mayWait(command)).isFalse();
  }

  private static boolean mayWait(String command) {
    ByteBuf message = encode(OpMsg.command(BsonDocument.parse(command)));
    try {
      return SharingRules.mayWait(CommandHead.of(message));
    } finally {
      message.release();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{saslStart: 1, mechanism: 'SCRAM-SHA-256'} | AUTHENTICATION",
        "{saslContinue: 1} | AUTHENTICATION",
        "{authenticate: 1, mechanism: 'MONGODB-X509'} | AUTHENTICATION",
        "{hello: 1} | HELLO",
        "{isMaster: 1} | HELLO",
        "{logout: 1} | REFUSED"
      })
  void theHandshakeHasItsOwnRules(String command, Use use) {
    assertThat(use(command)).isEqualTo(use);
  }

  @Test
  void statementsInADocumentSequenceAreLookedInto() {
    OpMsg update = OpMsg.command(BsonDocument.parse("{update: 'c'}"));

    assertThat(use(update.withSequences(sequence("updates", "{q: {_id: 1}, u: {a: 1}}"))))
        .isEqualTo(Use.SHARED);
    assertThat(
            use(
                update.withSequences(
                    sequence("updates", "{q: {_id: 1}, u: {a: 1}}", "{q: {}, multi: true}"))))
        .isEqualTo(Use.OWN);
    assertThat(
            use(
                OpMsg.command(BsonDocument.parse("{insert: 'c'}"))
                    .withSequences(sequence("documents", "{multi: true, limit: 0}"))))
        .isEqualTo(Use.SHARED);
  }

  @Test
  void aLargeRequestDoesNotShare() {
    BsonDocument insert = BsonDocument.parse("{insert: 'c', documents: []}");
    String padding = "x".repeat(256 * 1024);

    assertThat(use(OpMsg.command(insert.append("comment", new BsonString(padding)))))
        .isEqualTo(Use.OWN);
  }

  @Test
  void aStreamOfRepliesDoesNotShare() {
    OpMsg ping = OpMsg.command(BsonDocument.parse("{ping: 1}"));
    OpMsg exhaust = new OpMsg(1, 0, MessageHeader.EXHAUST_ALLOWED, ping.body(), ping.sequences());

    assertThat(use(exhaust)).isEqualTo(Use.OWN);
  }

  @ParameterizedTest
  @ValueSource(bytes = {0, 1, 2, 3})
  void compressedRequestsAreLookedInto(byte compressor) throws IOException {
    assertThat(use(compressed("{find: 'c', filter: {_id: 1}}", compressor))).isEqualTo(Use.SHARED);
    assertThat(use(compressed("{aggregate: 'c', pipeline: []}", compressor))).isEqualTo(Use.OWN);
  }

  @Test
  void anUnknownCompressorDoesNotShare() throws IOException {
    assertThat(use(compressed("{ping: 1}", (byte) 77))).isEqualTo(Use.OWN);
  }

  @Test
  void whatCannotBeReadDoesNotShare() {
    ByteBuf message = encode(OpMsg.command(BsonDocument.parse("{ping: 1}")));
    for (int cut = 17; cut < message.readableBytes(); cut++) {
      ByteBuf part = message.copy(0, cut);
      assertThat(rules.use(CommandHead.of(part))).as("%s bytes", cut).isNotEqualTo(Use.SHARED);
      part.release();
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
      return rules.use(CommandHead.of(message));
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

  private static ByteBuf compressed(String command, byte compressor) throws IOException {
    ByteBuf plain = encode(OpMsg.command(BsonDocument.parse(command)));
    byte[] content = new byte[plain.readableBytes() - 16];
    plain.skipBytes(16).readBytes(content);
    plain.release();
    byte[] small =
        switch (compressor) {
          case 1 -> Snappy.compress(content);
          case 2 -> deflate(content);
          case 3 -> Zstd.compress(content);
          default -> content;
        };
    return Unpooled.buffer()
        .writeIntLE(25 + small.length)
        .writeIntLE(1)
        .writeIntLE(0)
        .writeIntLE(MessageHeader.OP_COMPRESSED)
        .writeIntLE(OpMsg.OP_MSG)
        .writeIntLE(content.length)
        .writeByte(compressor)
        .writeBytes(small);
  }

  private static byte[] deflate(byte[] content) {
    Deflater deflater = new Deflater();
    deflater.setInput(content);
    deflater.finish();
    byte[] out = new byte[content.length + 64];
    int size = deflater.deflate(out);
    deflater.end();
    return Arrays.copyOf(out, size);
  }
}
