package dev.onehop.routing.internal.direct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.onehop.shards.command.ScriptedCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A command for several shards goes to a mongos unchanged, and the client receives the reply of the
 * mongos. {@code docs/direct-mode.md} lists the commands.
 */
class HandOverTest {
  private static final int WIRE_6_0 = 17;
  private static final Path DOCUMENT = Path.of("../docs/direct-mode.md");
  private static final BsonDocument REPLY =
      BsonDocument.parse(
          "{ok: 1, n: 7, nModified: 3, value: null, electionId: 5, operationTime:"
              + " {$timestamp: {t: 1, i: 1}}}");

  private final ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0).routedBy(DirectRouter::new);

  @AfterEach
  void close() {
    cluster.close();
  }

  /** The commands that the page on direct mode lists as executed by a mongos. */
  static List<String> documented() throws IOException {
    String text = Files.readString(DOCUMENT);
    int start = text.indexOf("## Commands that a mongos executes");
    String section = text.substring(start, text.indexOf("\n## ", start + 1));
    Matcher command = Pattern.compile("`([a-zA-Z]+)`").matcher(section);
    return command.results().map(each -> each.group(1)).distinct().toList();
  }

  static Stream<String> otherCommands() throws IOException {
    return documented().stream()
        .flatMap(
            name ->
                Stream.of("{%s: 'c', $db: 'it'}", "{%s: 1, $db: 'admin'}")
                    .map(form -> form.formatted(name)));
  }

  @Test
  void pageListsCommands() throws IOException {
    assertThat(documented())
        .contains("explain", "listCollections", "create", "drop", "createUser", "bulkWrite")
        .hasSizeGreaterThan(40)
        .doesNotContain("find", "insert", "getMore");
  }

  @ParameterizedTest
  @MethodSource("otherCommands")
  void mongosExecutesOtherCommands(String command) {
    assertMongosExecutes(command);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'c'}",
        "{find: 'c', filter: {n: 5}, sort: {n: 1}, batchSize: 3}",
        "{find: 'c', filter: {at: {$near: [0, 0]}}, limit: 10}",
        "{find: 'c', filter: {_id: 5}, readConcern: {level: 'snapshot'}}",
        "{count: 'c', query: {n: 5}}",
        "{distinct: 'c', key: 'n', query: {n: 5}}",
        "{aggregate: 'c', pipeline: [], cursor: {}}",
        "{aggregate: 'c', pipeline: [{$match: {n: 5}}, {$group: {_id: '$n'}}], cursor: {}}",
        "{aggregate: 'c', pipeline: [{$match: {_id: 5}}], explain: true}",
        "{aggregate: 1, pipeline: [{$documents: []}], cursor: {}}",
        "{findAndModify: 'c', query: {n: 5}, update: {$inc: {n: 1}}}",
        "{findandmodify: 'c', query: {n: 5}, remove: true}",
        "{update: 'c', updates: [{q: {n: 5}, u: {$inc: {n: 1}}, multi: true}]}",
        "{update: 'c', updates: [{q: {n: 5}, u: {$inc: {n: 1}}}]}",
        "{update: 'c', updates: [{q: {n: 5}, u: {$inc: {n: 1}}, upsert: true}]}",
        "{delete: 'c', deletes: [{q: {n: 5}, limit: 0}]}",
        "{delete: 'c', deletes: [{q: {n: 5}, limit: 1}], lsid: {id: 1}, txnNumber: {$numberLong: '3'}}",
        "{insert: 'c', documents: [{_id: [5]}]}",
        "{insert: 'c', documents: [{_id: 1}, {_id: {$timestamp: {t: 0, i: 0}}}], ordered: false}",
        "{update: 'c', updates: [{q: {_id: 5}, u: {$inc: {n: 1}}}, {q: {n: 5}, u: {$inc: {n: 1}}}]}"
      })
  void mongosExecutesCommandsOnSeveralShards(String command) {
    assertMongosExecutes(command.replaceFirst("}$", ", \\$db: 'it'}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "$lookup",
        "$graphLookup",
        "$unionWith",
        "$out",
        "$merge",
        "$changeStream",
        "$collStats",
        "$indexStats",
        "$search",
        "$planCacheStats",
        "$listSessions"
      })
  void mongosExecutesStagesOutsideCollection(String stage) {
    assertMongosExecutes(
        "{aggregate: 'c', pipeline: [{$match: {_id: 5}}, {%s: {}}], cursor: {}, $db: 'it'}"
            .formatted(stage));
    assertMongosExecutes(
        "{aggregate: 'c', pipeline: [{$match: {_id: 5}}, {$facet: {a: [{%s: {}}]}}], cursor: {}, $db: 'it'}"
            .formatted(stage));
  }

  /** Malformed commands go to a mongos, which returns the error. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 5}",
        "{find: ''}",
        "{find: 'c', filter: 5}",
        "{count: 'c', query: 5}",
        "{aggregate: {}, pipeline: [], cursor: {}}",
        "{aggregate: 'c', pipeline: 5, cursor: {}}",
        "{aggregate: 'c', cursor: {}}",
        "{aggregate: 'c', pipeline: [5], cursor: {}}",
        "{findAndModify: 'c', query: 5, remove: true}",
        "{getMore: 5, collection: 'c'}",
        "{killCursors: 'c'}",
        "{killCursors: 'c', cursors: ['x']}",
        "{insert: 'c', documents: 5}",
        "{insert: 'c', documents: [5]}",
        "{update: 'c', updates: [{q: 5, u: {}}]}",
        "{update: 'c', updates: [{q: {_id: 5}}]}",
        "{delete: 'c', deletes: [{}]}"
      })
  void mongosExecutesMalformedCommands(String command) {
    assertMongosExecutes(command.replaceFirst("}$", ", \\$db: 'it'}"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'chunks', filter: {_id: 5}, $db: 'config'}",
        "{insert: 'settings', documents: [{_id: 5}], $db: 'config'}",
        "{find: 'system.users', filter: {}, $db: 'admin'}"
      })
  void mongosExecutesCommandsOnConfigData(String command) {
    assertMongosExecutes(command);
  }

  private void assertMongosExecutes(String command) {
    BsonDocument sent = BsonDocument.parse(command);
    String name = sent.getFirstKey();
    cluster.seed("m0");
    cluster.execute("{find: 'c', filter: {_id: 5}, $db: 'it'}");
    int toShards = cluster.seen("s0", name).size() + cluster.seen("s1", name).size();
    cluster.script("m0", got -> got.keySet().containsAll(sent.keySet()) ? REPLY : null);

    BsonDocument reply = cluster.execute(command);

    cluster.script("m0", got -> null);
    assertThat(reply).as(command).containsAllEntriesOf(REPLY);
    assertThat(cluster.seen("m0", name))
        .as("as the client has sent it")
        .anySatisfy(
            got ->
                assertThat(got)
                    .containsAllEntriesOf(sent)
                    .doesNotContainKeys("shardVersion", "databaseVersion"));
    assertThat(cluster.seen("s0", name).size() + cluster.seen("s1", name).size())
        .as(command)
        .isEqualTo(toShards);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{find: 'c', $db: 'it'}",
        "{update: 'c', updates: [{q: {n: 5}, u: {$inc: {n: 1}}, multi: true}], $db: 'it'}",
        "{insert: 'c', documents: [{_id: [5]}], $db: 'it'}",
        "{explain: {find: 'c', filter: {_id: 5}}, $db: 'it'}",
        "{listDatabases: 1, $db: 'admin'}",
        "{listCollections: 1, $db: 'it'}",
        "{find: 'chunks', $db: 'config'}",
        "{killAllSessions: [], $db: 'admin'}",
        "{create: 'new', $db: 'it'}"
      })
  void failsWithoutMongos(String command) {
    BsonDocument reply = cluster.execute(command);

    assertThat(reply.getNumber("ok").intValue()).isZero();
    assertThat(reply).containsEntry("code", new BsonInt32(115));
    assertThat(reply.getString("errmsg").getValue())
        .contains("needs a mongos in direct mode", "the URI names config servers only");
  }

  /** A cursor stays with the mongos that has opened it. */
  @Test
  void cursorStaysWithItsMongos() {
    cluster.seed("m0");
    cluster.script(
        "m0",
        got ->
            switch (got.getFirstKey()) {
              case "find" ->
                  got.containsKey("filter") || !got.getString("$db").getValue().equals("it")
                      ? null
                      : BsonDocument.parse(
                          "{ok: 1, cursor: {firstBatch: [], id: {$numberLong: '7'}, ns: 'it.c'}}");
              case "getMore" ->
                  BsonDocument.parse(
                      "{ok: 1, cursor: {nextBatch: [{n: 1}], id: {$numberLong: '7'}, ns: 'it.c'}}");
              default -> null;
            });
    BsonInt64 id = cluster.execute("{find: 'c', $db: 'it'}").getDocument("cursor").getInt64("id");
    // From now on, a command without a cursor would go to m1.
    cluster.seed("m1");

    String next = "{getMore: {$numberLong: '%d'}, collection: 'c', $db: 'it'}";
    assertThat(cluster.execute(next.formatted(id.getValue())).getDocument("cursor"))
        .containsEntry("ns", new BsonString("it.c"));
    cluster.execute(
        "{killCursors: 'c', cursors: [{$numberLong: '%d'}], $db: 'it'}".formatted(id.getValue()));

    assertThat(cluster.seen("m0", "getMore")).hasSize(1);
    assertThat(cluster.seen("m0", "killCursors")).hasSize(1);
    assertThat(cluster.seen("m1", "getMore")).isEmpty();
  }

  /**
   * Because of the stale table, the command goes to a mongos. So no shard can refuse it as stale,
   * and OneHop must refresh the table by itself.
   */
  @Test
  void refreshesStaleTable() {
    String find = "{find: 'c', filter: {_id: 5}, $db: 'it'}";
    cluster.seed("m0");
    cluster.script(
        "m0",
        got -> {
          String collection = got.getString("find", new BsonString("")).getValue();
          return List.of("collections", "chunks").contains(collection)
              ? ScriptedCluster.cursor(ScriptedCluster.formerMetadata(collection, "a"))
              : null;
        });
    assertThat(from(cluster.execute(find))).isEqualTo("m0");

    cluster.script("m0", got -> null);
    await().untilAsserted(() -> assertThat(from(cluster.execute(find))).isEqualTo("s1"));
  }

  /**
   * Without a mongos, a command for several shards would be refused. The table is refreshed first,
   * and by the new table one shard owns the data.
   */
  @Test
  void refreshesStaleTableBeforeRejection() {
    String upsert =
        "{update: 'c', updates: [{q: {_id: 5}, u: {$set: {y: 1}}, upsert: true}], $db: 'it'}";
    String find = "{find: 'c', filter: {_id: 5}, $db: 'it'}";
    cluster.script(
        "config",
        got -> {
          String collection = got.getString("find", new BsonString("")).getValue();
          return List.of("collections", "chunks").contains(collection)
              ? ScriptedCluster.cursor(ScriptedCluster.formerMetadata(collection, "a"))
              : null;
        });
    assertThat(cluster.execute(find)).containsEntry("code", new BsonInt32(115));
    assertThat(cluster.execute(upsert)).containsEntry("code", new BsonInt32(115));

    cluster.script("config", got -> null);

    assertThat(cluster.execute(upsert)).containsEntry("n", new BsonInt32(1));
    assertThat(cluster.seen("s1", "update")).hasSize(1);
    assertThat(cluster.seen("s0", "update")).isEmpty();
  }

  private static String from(BsonDocument reply) {
    return reply
        .getDocument("cursor")
        .getArray("firstBatch")
        .get(0)
        .asDocument()
        .getString("from")
        .getValue();
  }
}
