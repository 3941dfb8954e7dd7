package dev.onehop.copy.internal.apply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCommandException;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.StreamEvent;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.bson.RawBsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

/** The commands that the destination receives for events that concern more than one document. */
class SchemaChangesTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final String CREATED = "onehop_copy.created.j";
  private static final String UUID_1 =
      "collectionUUID: {$uuid: '00000000-0000-4000-8000-000000000001'}";
  private static final String UUID_2 =
      "collectionUUID: {$uuid: '00000000-0000-4000-8000-000000000002'}";

  private ScriptedReplicaSet server;
  private MongoClient client;
  private SchemaChanges changes;

  @BeforeEach
  void connect() {
    server = new ScriptedReplicaSet();
    client = MongoClients.create(server.url());
    changes = changes("d.not");
  }

  private SchemaChanges changes(String... excluded) {
    return new SchemaChanges(
        client,
        client.getDatabase("onehop_copy").getCollection("created.j", BsonDocument.class),
        new Mapping(List.of(), List.of(excluded), Map.of("d", "e"), Map.of(), null));
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private static BsonDocument json(String json) {
    return BsonDocument.parse(json);
  }

  private static StreamEvent.Change change(String shard, String json) {
    return new StreamEvent.Change(
        shard, "", RawBsonDocument.parse(json), 0, Checkpoint.before(new BsonTimestamp(1)));
  }

  private List<String> apply(String shard, String event, boolean uncertain) {
    BatchPlan plan = changes.apply(change(shard, event), uncertain, Mono.empty()).block(TIMEOUT);
    return plan.work().stream().flatMap(work -> StatementText.of(work.updates()).stream()).toList();
  }

  /** Applies an event when the destination can't be newer than the event. */
  private List<String> apply(String event) {
    return apply("s0", event, false);
  }

  private static String event(String type, String more) {
    return "{operationType: '%s', ns: {db: 'd', coll: 'c'}, %s}".formatted(type, more);
  }

  private void sent(String command, String... json) {
    assertThat(server.asWritten(command))
        .containsExactlyElementsOf(
            Stream.of(json)
                .map(each -> json(each).append("writeConcern", json("{w: 'majority'}")))
                .toList());
  }

  private void exist(String... names) {
    server.script(
        command ->
            command.getFirstKey().equals("listCollections")
                ? ScriptedReplicaSet.cursor(
                    List.of(names).stream()
                        .filter(
                            name ->
                                command
                                    .getDocument("filter")
                                    .getString("name")
                                    .getValue()
                                    .equals(name))
                        .map("{name: '%s'}"::formatted)
                        .toArray(String[]::new))
                : null);
  }

  @Test
  void createsRenamedCollectionAndRecordsIt() {
    List<String> remembered =
        apply(
            event(
                "create",
                UUID_1
                    + ", operationDescription: {idIndex: {v: 2, key: {_id: 1}, name: '_id_'},"
                    + " collation: {locale: 'fr', version: '57.1'}, expireAfterSeconds: 60}"));
    sent("create", "{create: 'c', collation: {locale: 'fr'}}");
    assertThat(server.seen("create").get(0).getString("$db").getValue()).isEqualTo("e");
    assertThat(remembered).hasSize(1).first().asString().contains("\"d.c\"", "\"shard\": \"s0\"");
  }

  @Test
  void createsViewWithNewName() {
    apply(event("create", "operationDescription: {viewOn: 'on', pipeline: []}"));
    sent("create", "{create: 'c', viewOn: 'on', pipeline: []}");
  }

  @Test
  void acceptsRepeatedEvents() {
    server.script(
        command ->
            switch (command.getFirstKey()) {
              case "create" -> json("{ok: 0, code: 48, errmsg: 'exists'}");
              case "drop" -> json("{ok: 0, code: 26, errmsg: 'not found'}");
              case "dropIndexes" -> json("{ok: 0, code: 27, errmsg: 'no index'}");
              default -> null;
            });
    apply(event("create", "operationDescription: {}"));
    apply(event("drop", UUID_1));
    apply(event("dropIndexes", "operationDescription: {indexes: [{key: {a: 1}, name: 'a_1'}]}"));
    sent("dropIndexes", "{dropIndexes: 'c', index: 'a_1'}");
  }

  @Test
  void throwsOtherErrors() {
    server.script(
        command ->
            command.getFirstKey().equals("create")
                ? json("{ok: 0, code: 72, errmsg: 'option'}")
                : null);
    assertThatThrownBy(() -> apply(event("create", "operationDescription: {}")))
        .isInstanceOf(MongoCommandException.class);
  }

  @Test
  void ignoresExcludedCollection() {
    apply(event("create", "operationDescription: {}").replace("coll: 'c'", "coll: 'not'"));
    apply(event("drop", UUID_1).replace("coll: 'c'", "coll: 'not'"));
    assertThat(server.seen("create")).isEmpty();
    assertThat(server.seen("drop")).isEmpty();
  }

  /**
   * The drop comes from the old primary shard. On the new primary shard, the collection exists with
   * another UUID.
   */
  @Test
  void ignoresDropAtOldPrimaryShard() {
    server.store(
        CREATED,
        "{_id: 'd.c', uuid: {$uuid: '00000000-0000-4000-8000-000000000002'}, shard: 's1'}");
    apply("s0", event("drop", UUID_1), false);
    sent("drop");
    apply("s1", event("drop", UUID_2), false);
    sent("drop", "{drop: 'c'}");
  }

  @Test
  void dropsLastCreatedCollection() {
    server.store(
        CREATED,
        "{_id: 'd.c', uuid: {$uuid: '00000000-0000-4000-8000-000000000001'}, shard: 's1'}");
    apply("s0", event("drop", UUID_1), false);
    sent("drop", "{drop: 'c'}");
  }

  @Test
  void dropsRenamedDatabase() {
    changes = changes();
    apply("{operationType: 'dropDatabase', ns: {db: 'd'}}");
    sent("dropDatabase", "{dropDatabase: 1}");
    assertThat(server.seen("dropDatabase").get(0).getString("$db").getValue()).isEqualTo("e");
  }

  /**
   * The destination's database may have collections of other users, because the copy leaves some
   * collections out. So it is not dropped.
   */
  @Test
  void keepsPartlyCopiedDatabase() {
    apply("{operationType: 'dropDatabase', ns: {db: 'd'}}");
    apply("{operationType: 'dropDatabase', ns: {db: 'other'}}");
    assertThat(server.seen("dropDatabase"))
        .extracting(sent -> sent.getString("$db").getValue())
        .containsExactly("other");
  }

  @Test
  void defersUniqueAndExpiringIndexes() {
    apply(
        event(
            "createIndexes",
            "operationDescription: {indexes: [{v: 2, key: {a: 1}, name: 'a_1'},"
                + " {v: 2, key: {u: 1}, name: 'u_1', unique: true},"
                + " {v: 2, key: {t: 1}, name: 't_1', expireAfterSeconds: 1}]}"));
    apply(
        event(
            "createIndexes",
            "operationDescription: {indexes: [{v: 2, key: {u: 1}, name: 'u_1', unique: true}]}"));
    sent(
        "createIndexes",
        "{createIndexes: 'c', indexes:"
            + " [{v: 2, key: {a: 1}, name: 'a_1', collation: {locale: 'simple'}}]}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "none",
      value = {
        "{validator: {a: 1}} | {collMod: 'c', validator: {a: 1}}",
        "{expireAfterSeconds: 5} | none",
        "{index: {name: 'a_1', expireAfterSeconds: 5}} | none",
        "{index: {name: 'a_1', hidden: true}} | {collMod: 'c', index: {name: 'a_1', hidden: true}}",
        "{viewOn: 'v', pipeline: [], collation: {locale: 'fr'}} | {collMod: 'c', viewOn: 'v', pipeline: []}"
      })
  void appliesModificationsExceptExpiry(String description, String command) {
    apply(event("modify", "operationDescription: " + description));
    sent("collMod", command == null ? new String[0] : new String[] {command});
  }

  /**
   * The full phase may have copied a later state of the collection. The destination then refuses
   * the earlier change.
   */
  @Test
  void ignoresErrorIfDestinationMayBeNewer() {
    server.script(
        command ->
            command.getFirstKey().equals("collMod")
                ? json("{ok: 0, code: 72, errmsg: 'option'}")
                : null);
    String event = event("modify", "operationDescription: {validator: {a: 1}}");
    apply("s0", event, true);
    assertThatThrownBy(() -> apply("s0", event, false)).isInstanceOf(MongoCommandException.class);
  }

  private static String rename(String to, String description) {
    return event(
        "rename",
        UUID_1
            + ", to: {db: 'd', coll: '%s'}, operationDescription: %s".formatted(to, description));
  }

  @Test
  void renamesCollectionOnce() {
    exist("c");
    apply("s0", rename("n", "{}"), false);
    exist("n");
    apply("s1", rename("n", "{}"), false);
    sent("renameCollection", "{renameCollection: 'e.c', to: 'e.n', dropTarget: true}");
  }

  @Test
  void dropsCollectionRenamedToExcludedName() {
    exist("c");
    apply("s0", rename("not", "{}"), false);
    sent("drop", "{drop: 'c'}");
    sent("renameCollection");
  }

  @Test
  void rejectsRenameFromExcludedName() {
    assertThatThrownBy(
            () -> apply("s0", rename("c", "{}").replaceFirst("coll: 'c'", "coll: 'not'"), false))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("begin the copy again");
  }

  @Test
  void keepsNewNameIfBothWereCopied() {
    exist("c", "n");
    apply("s0", rename("n", "{}"), true);
    sent("drop", "{drop: 'c'}");
    sent("renameCollection");
  }

  @Test
  void rejectsUncertainRenameOverOtherCollection() {
    exist("c", "n");
    assertThatThrownBy(
            () ->
                apply(
                    "s0",
                    rename("n", "{dropTarget: {$uuid: '00000000-0000-4000-8000-000000000009'}}"),
                    true))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("begin the copy again");
    sent("drop");
    sent("renameCollection");
  }

  @Test
  void doesNotShardOnReplicaSet() {
    apply(event("shardCollection", "operationDescription: {shardKey: {a: 1}}"));
    assertThat(server.seen("shardCollection")).isEmpty();
  }

  @Test
  void sendsNothingAfterLosingJob() {
    assertThatThrownBy(
            () ->
                changes
                    .apply(
                        change("s0", event("drop", UUID_1)),
                        false,
                        Mono.error(new IllegalStateException("lost")))
                    .block(TIMEOUT))
        .hasMessage("lost");
    assertThat(server.seen("drop")).isEmpty();
  }

  @Test
  void retriesAfterStepDown() {
    server.script(
        command -> {
          if (!command.getFirstKey().equals("create")) {
            return null;
          }
          server.script(all -> null);
          return json("{ok: 0, code: 189, errmsg: 'steps down'}");
        });
    apply(event("create", "operationDescription: {}"));
    assertThat(server.seen("create")).hasSize(2);
  }
}
