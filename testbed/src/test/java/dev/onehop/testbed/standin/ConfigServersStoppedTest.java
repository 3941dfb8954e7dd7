package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** With a loaded table no operation needs the config servers. */
class ConfigServersStoppedTest {
  private static final int WIRE_6_0 = 17;

  private final ScriptedCluster cluster =
      new ScriptedCluster(WIRE_6_0).routedBy(cluster -> new MongosRouter(cluster, false));

  @AfterEach
  void close() {
    cluster.close();
  }

  private void stopConfigServers() {
    assertThat(cluster.execute("{find: 'c', $db: 'it'}")).containsKey("cursor");
    cluster.stop("config");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{update: 'c', updates: [{q: {x: 1}, u: {$inc: {n: 1}}, multi: true}], $db: 'it'}",
        "{update: 'c', updates: [{q: {x: 1}, u: {$inc: {n: 1}}, multi: true}], ordered: false,"
            + " $db: 'it'}",
        "{delete: 'c', deletes: [{q: {x: 1}, limit: 0}], $db: 'it'}",
        "{insert: 'c', documents: [{_id: -1}, {_id: 1}], $db: 'it'}"
      })
  void executesWriteToSeveralShards(String command) {
    stopConfigServers();

    assertThat(cluster.execute(command))
        .containsEntry("n", new BsonInt32(2))
        .doesNotContainKey("writeErrors");
  }

  /**
   * Before the router refuses the statement, it tries to refresh its table. Without the config
   * servers, the refresh fails. The router must then soon refuse the statement.
   */
  @Test
  void rejectsUpsertWithoutShardKey() {
    stopConfigServers();

    BsonDocument reply =
        cluster.execute(
            "{update: 'c', updates: [{q: {x: 1}, u: {$set: {y: 1}}, upsert: true}], $db: 'it'}");

    assertThat(reply.getArray("writeErrors").get(0).asDocument())
        .containsEntry("code", new BsonInt32(61));
  }
}
