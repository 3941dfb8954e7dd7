package dev.onehop.shards.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.shards.cluster.Retryability;
import dev.onehop.wire.message.BsonFields.MalformedDocumentException;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.message.OpMsg.Sequence;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.List;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands that are forwarded without decoding, and the fields that are added to them. */
class ShardStatementTest {
  private static final String UPDATE = "{update: 'c', ordered: true, $db: 'd', txnNumber: 1}";

  private static ByteBuf message(String body, String list, String... documents) {
    OpMsg command = OpMsg.command(BsonDocument.parse(body));
    if (documents.length > 0) {
      List<RawBsonDocument> raw = Arrays.stream(documents).map(RawBsonDocument::parse).toList();
      command = command.withSequences(List.of(new Sequence(list, raw)));
    }
    ByteBuf message = Unpooled.buffer();
    command.encode(message);
    return message;
  }

  @Test
  void findIsTargetedByFilter() {
    ShardStatement find =
        ShardStatement.read(message("{find: 'c', filter: {_id: 1}, limit: 1, $db: 'd'}", ""));

    assertThat(find).isNotNull();
    assertThat(find.namespace()).isEqualTo("d.c");
    assertThat(find.kind()).isEqualTo(ShardStatement.Kind.BY_FILTER);
    assertThat(find.document()).isEqualTo(BsonDocument.parse("{_id: 1}"));
    assertThat(find.retryability()).isEqualTo(Retryability.READ);
    assertThat(find.hasConcern()).isFalse();
  }

  @Test
  void upsertNeedsWholeKey() {
    ShardStatement upsert =
        ShardStatement.read(
            message(UPDATE, "updates", "{q: {_id: 1}, u: {$set: {a: 1}}, upsert: true}"));

    assertThat(upsert).isNotNull();
    assertThat(upsert.kind()).isEqualTo(ShardStatement.Kind.BY_WHOLE_KEY);
    assertThat(upsert.retryability()).isEqualTo(Retryability.WRITE);
  }

  @Test
  void insertIsTargetedByDocument() {
    ShardStatement insert =
        ShardStatement.read(message("{insert: 'c', $db: 'd'}", "documents", "{_id: 5, x: 1}"));

    assertThat(insert).isNotNull();
    assertThat(insert.kind()).isEqualTo(ShardStatement.Kind.INSERT);
    assertThat(insert.document()).isEqualTo(BsonDocument.parse("{_id: 5, x: 1}"));
    assertThat(insert.retryability()).isEqualTo(Retryability.NEVER);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'c', filter: {}, $db: 'd', collation: {locale: 'fr'}}",
        "{find: 'c', filter: {}, $db: 'd', autocommit: false}",
        "{find: 'c', filter: {}, $db: 'd', tailable: true}",
        "{find: 'c', filter: {}, $db: 'd', let: {a: 1}}",
        "{find: 'c', filter: {}, $db: 'd', $readPreference: {mode: 'secondary'}}",
        "{find: 'c', filter: {}, $db: 'd', readConcern: {afterClusterTime: 1}}",
        "{find: 'c', filter: {}, $db: 'd', readConcern: {level: 'snapshot'}}",
        "{find: 'c', filter: {}, $db: 'config'}",
        "{find: 'c', filter: {}, $db: 'd', shardVersion: {}}",
        "{find: 'c', $db: 'd'}",
        "{aggregate: 'c', pipeline: [], cursor: {}, $db: 'd'}",
        "{insert: 'c', documents: [{_id: 1}], $db: 'd'}",
        "{count: 'c', query: {_id: 1}, $db: 'd'}"
      })
  void doesNotForwardOtherCommands(String body) {
    assertThat(ShardStatement.read(message(body, ""))).isNull();
  }

  /**
   * {@link OneShardForwarding} does not forward such a command, so the router decodes it and
   * returns the error.
   */
  @Test
  void rejectsCommandWithoutName() {
    assertThatThrownBy(() -> ShardStatement.read(message("{}", "")))
        .isInstanceOf(MalformedDocumentException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{q: {_id: 1}, u: {$set: {a: 1}}, multi: true}",
        "{q: {_id: 1}, u: {$set: {a: 1}}, collation: {locale: 'fr'}}"
      })
  void doesNotForwardMultiOrCollatedUpdates(String update) {
    assertThat(ShardStatement.read(message(UPDATE, "updates", update))).isNull();
  }

  @Test
  void doesNotForwardBatches() {
    String one = "{q: {_id: 1}, u: {$set: {a: 1}}}";

    assertThat(ShardStatement.read(message(UPDATE, "updates", one))).isNotNull();
    assertThat(ShardStatement.read(message(UPDATE, "updates", one, one))).isNull();
    assertThat(
            ShardStatement.read(
                message("{update: 'c', $db: 'd', writeConcern: {w: 0}}", "updates", one)))
        .isNull();
    assertThat(
            ShardStatement.read(
                message("{delete: 'c', $db: 'd'}", "deletes", "{q: {_id: 1}, limit: 0}")))
        .isNull();
  }

  @Test
  void addsElementsOnlyToBody() {
    ByteBuf original = message(UPDATE, "updates", "{q: {_id: 1}, u: {$set: {a: 1}}}");
    ShardStatement update = ShardStatement.read(original);
    assertThat(update).isNotNull();

    ByteBuf changed =
        update.with(
            original,
            OneShardForwarding.elements(BsonDocument.parse("{shardVersion: {v: 1}}")),
            OneShardForwarding.elements(BsonDocument.parse("{writeConcern: {w: 'majority'}}")));

    OpMsg decoded = OpMsg.decode(changed);
    assertThat(decoded.body())
        .isEqualTo(
            BsonDocument.parse(
                "{update: 'c', ordered: true, $db: 'd', txnNumber: 1, shardVersion: {v: 1},"
                    + " writeConcern: {w: 'majority'}}"));
    assertThat(decoded.documents("updates"))
        .containsExactly(RawBsonDocument.parse("{q: {_id: 1}, u: {$set: {a: 1}}}"));
  }
}
