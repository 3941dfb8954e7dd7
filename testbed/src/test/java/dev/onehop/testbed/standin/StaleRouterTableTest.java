package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Commands that the router refuses for a sharded collection. The router's table is old: the
 * collection is no longer sharded.
 */
class StaleRouterTableTest {
  private final ScriptedCluster cluster =
      new ScriptedCluster(17).routedBy(cluster -> new MongosRouter(cluster, false));

  @AfterEach
  void close() {
    cluster.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{aggregate: 'c', pipeline: [{$group: {_id: '$x'}}], cursor: {}, $db: 'it'}",
        "{distinct: 'c', key: 'x', collation: {locale: 'en'}, $db: 'it'}",
        "{findAndModify: 'c', query: {x: 1}, update: {$set: {y: 1}}, $db: 'it'}"
      })
  void runOnCurrentShard(String command) {
    AtomicBoolean dropped = new AtomicBoolean();
    cluster.script(
        "config",
        got -> {
          String collection = got.getString("find", new BsonString("")).getValue();
          return dropped.get() && List.of("collections", "chunks").contains(collection)
              ? ScriptedCluster.cursor(new BsonArray())
              : null;
        });
    assertThat(cluster.execute(command).getNumber("ok").intValue()).isZero();

    dropped.set(true);
    BsonDocument reply = cluster.execute(command);

    assertThat(reply.getNumber("ok").intValue()).as(reply.toJson()).isEqualTo(1);
    assertThat(cluster.seen("s0", BsonDocument.parse(command).getFirstKey())).hasSize(1);
  }
}
