package dev.onehop.routing.internal.direct;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Views and time series of sharded collections. A shard has no data under their names. */
class ViewHandOverTest {
  private static final int WIRE_6_0 = 17;
  private static final String OF_SHARDED_VIEW =
      "{ok: 0, code: 169, codeName: 'CommandOnShardedViewNotSupportedOnMongod'}";

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new);

  @AfterEach
  void close() {
    cluster.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'c', filter: {_id: -5}, $db: 'it'}",
        "{count: 'c', query: {_id: -5}, $db: 'it'}",
        "{distinct: 'c', key: 'a', query: {_id: -5}, $db: 'it'}",
        "{aggregate: 'c', pipeline: [{$match: {_id: -5}}], cursor: {}, $db: 'it'}",
        "{explain: {find: 'c', filter: {_id: -5}}, $db: 'it'}"
      })
  void mongosReadsViewOfShardedCollection(String command) {
    String name = BsonDocument.parse(command).getFirstKey();
    cluster.script(
        "s0", got -> got.getFirstKey().equals(name) ? BsonDocument.parse(OF_SHARDED_VIEW) : null);
    cluster.seed("m0");

    assertThat(cluster.execute(command).getNumber("ok").intValue()).isEqualTo(1);
    assertThat(cluster.seen("m0", name)).isNotEmpty();
  }

  /**
   * The view joins a sharded collection. A shard would join only its own part of that collection,
   * so a mongos executes the command.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'v', filter: {}, $db: 'it'}",
        "{count: 'v', query: {}, $db: 'it'}",
        "{distinct: 'v', key: 'a', $db: 'it'}",
        "{aggregate: 'v', pipeline: [], cursor: {}, $db: 'it'}",
        "{insert: 'v', documents: [{a: 1}], $db: 'it'}",
      })
  void mongosExecutesCommandsOnOtherViews(String command) {
    String name = BsonDocument.parse(command).getFirstKey();
    cluster.script("m0", got -> sharded(got));
    cluster.script("s0", got -> listViewV(got));
    cluster.seed("m0");

    for (int i = 0; i < 3; i++) {
      assertThat(cluster.execute(command).getNumber("ok").intValue()).isEqualTo(1);
    }

    assertThat(cluster.seen("m0", name))
        .filteredOn(seen -> seen.getString("$db").getValue().equals("it"))
        .hasSize(3);
    assertThat(cluster.seen("s0", name)).isEmpty();
    assertThat(cluster.seen("s0", "listCollections")).hasSize(1);
  }

  @Test
  void shardReadsUnshardedCollection() {
    cluster.script("m0", got -> sharded(got));
    cluster.script("s0", got -> listViewV(got));
    cluster.seed("m0");

    cluster.execute("{find: 'other', filter: {}, $db: 'it'}");
    cluster.execute("{find: 'other', filter: {}, $db: 'it'}");

    assertThat(cluster.seen("s0", "find")).hasSize(2);
    assertThat(cluster.seen("s0", "listCollections")).hasSize(1);
  }

  /**
   * A shard refuses to list the name, because the user has no rights on it. The command then goes
   * to a mongos, which returns the error.
   */
  @Test
  void mongosExecutesCommandIfListingIsUnauthorized() {
    cluster.script("m0", got -> sharded(got));
    cluster.script(
        "s0",
        got ->
            got.getFirstKey().equals("listCollections")
                ? BsonDocument.parse("{ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'no'}")
                : null);
    cluster.seed("m0");

    BsonDocument reply = cluster.execute("{find: 'other', filter: {}, $db: 'it'}");

    assertThat(reply.getNumber("ok").intValue()).isEqualTo(1);
    assertThat(cluster.seen("s0", "find")).isEmpty();
  }

  private static BsonDocument listViewV(BsonDocument command) {
    if (!command.getFirstKey().equals("listCollections")) {
      return null;
    }
    boolean isView = command.getDocument("filter").getString("name").getValue().equals("v");
    BsonArray found = new BsonArray();
    if (isView) {
      found.add(BsonDocument.parse("{name: 'v', type: 'view'}"));
    }
    return ScriptedCluster.cursor(found);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{insert: 'ts', documents: [{t: 1}], $db: 'it'}",
        "{delete: 'ts', deletes: [{q: {}, limit: 0}], $db: 'it'}",
        "{find: 'ts', filter: {_id: 5}, $db: 'it'}",
        "{count: 'ts', query: {}, $db: 'it'}",
        "{explain: {find: 'ts', filter: {}}, $db: 'it'}",
      })
  void mongosExecutesCommandsOnShardedTimeSeries(String command) {
    String name = BsonDocument.parse(command).getFirstKey();
    for (String server : new String[] {"m0", "config"}) {
      cluster.script(server, got -> sharded(got));
    }
    cluster.seed("m0");

    assertThat(cluster.execute(command).getNumber("ok").intValue()).isEqualTo(1);
    assertThat(cluster.seen("m0", name))
        .anySatisfy(seen -> assertThat(seen.getString("$db").getValue()).isEqualTo("it"));
    for (String shard : new String[] {"s0", "s1"}) {
      assertThat(cluster.seen(shard, name)).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"ts", "other"})
  void rejectsShardedTimeSeriesWithoutMongos(String collection) {
    cluster.script("config", got -> sharded(got));

    BsonDocument reply =
        cluster.execute("{insert: '%s', documents: [{t: 1}], $db: 'it'}".formatted(collection));

    if (collection.equals("ts")) {
      assertThat(reply).containsEntry("code", new BsonInt32(115));
      assertThat(reply.getString("errmsg").getValue()).contains("time series", "mongos");
      assertThat(cluster.seen("s0", "insert")).isEmpty();
    } else {
      assertThat(cluster.seen("s0", "insert")).hasSize(1);
    }
  }

  /** Metadata in which only the buckets of a time series are sharded. */
  private static BsonDocument sharded(BsonDocument command) {
    if (!command.getFirstKey().equals("find")
        || !command.getString("find").getValue().equals("collections")) {
      return null;
    }
    BsonArray found = new BsonArray();
    if (command.getDocument("filter").getString("_id").getValue().equals("it.system.buckets.ts")) {
      found.add(
          BsonDocument.parse(
              "{_id: 'it.system.buckets.ts', timeseriesFields: {timeField: 't', metaField: 'm'}}"));
    }
    return ScriptedCluster.cursor(found);
  }
}
