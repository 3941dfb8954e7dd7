package dev.onehop.routing.internal.direct;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.wire.message.OpMsg;
import org.bson.BsonDocument;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which commands a config server may answer for the cluster. */
class ConfigServerCommandsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'chunks', filter: {}, $db: 'config'}",
        "{aggregate: 'chunks', pipeline: [{$group: {_id: '$shard'}}], cursor: {}, $db: 'config'}",
        "{update: 'settings', $db: 'config'}",
        "{explain: {find: 'chunks'}, $db: 'config'}",
        "{listCollections: 1, $db: 'admin'}",
        "{usersInfo: 1, $db: 'admin'}",
        "{getDefaultRWConcern: 1, $db: 'admin'}"
      })
  void whatItKnowsForAll(String command) {
    assertThat(ConfigServerCommands.holdForCluster(command(command))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{serverStatus: 1, $db: 'admin'}",
        "{replSetGetStatus: 1, $db: 'admin'}",
        "{getParameter: '*', $db: 'admin'}",
        "{currentOp: 1, $db: 'admin'}",
        "{fsync: 1, $db: 'admin'}",
        "{dbStats: 1, $db: 'config'}",
        "{drop: 'chunks', $db: 'config'}",
        "{find: 'system.sessions', filter: {}, $db: 'config'}",
        "{explain: {find: 'system.sessions'}, $db: 'config'}",
        "{explain: {}, $db: 'config'}",
        "{aggregate: 1, pipeline: [{$currentOp: {}}], cursor: {}, $db: 'admin'}",
        "{aggregate: 1, pipeline: [{$listLocalSessions: {}}], cursor: {}, $db: 'admin'}",
        "{aggregate: 'chunks', pipeline: [{$out: {db: 'd', coll: 'c'}}], cursor: {}, $db: 'config'}"
      })
  void whatItWouldSayOfItselfOnly(String command) {
    assertThat(ConfigServerCommands.holdForCluster(command(command))).isFalse();
  }

  private static OpMsg command(String json) {
    return OpMsg.command(BsonDocument.parse(json));
  }
}
