package dev.onehop.copy.internal.structure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.MongoCommandException;
import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.EndCheck;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.progress.CopyException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The commands that create collections, views and indexes in a replica set. */
class DestinationStructureTest {
  private static final String[] INDEXES = {
    "{v: 2, key: {a: 1}, name: 'a_1'}",
    "{v: 2, key: {u: 1}, name: 'u_1', unique: true}",
    "{v: 2, key: {t: 1}, name: 't_1', expireAfterSeconds: 60}",
    "{v: 2, key: {s: 1}, name: 's_1', collation: {locale: 'fr'}}",
    "{v: 1, key: {o: 1}, name: 'o_1'}"
  };

  private final List<String> notes = new ArrayList<>();
  @AutoClose private final ScriptedReplicaSet server = new ScriptedReplicaSet();
  @AutoClose private final ClusterEnd destination = server.connect("destination");
  private DestinationStructure structure;

  @BeforeEach
  void connect() throws InterruptedException {
    EndCheck.forCopy(destination);
    structure =
        new DestinationStructure(
            destination,
            new Mapping(List.of(), List.of("d.not"), Map.of("d", "e"), Map.of(), null),
            notes::add);
  }

  private static BsonDocument json(String json) {
    return BsonDocument.parse(json);
  }

  private static CollectionSpec spec(CollectionSpec.Kind kind, String options, String... indexes) {
    List<BsonDocument> all = new ArrayList<>();
    for (String index : indexes) {
      all.add(json(index));
    }
    return new CollectionSpec("d.c", "e.c", kind, null, json(options), all, null);
  }

  private static CollectionSpec collection(String options, String... indexes) {
    return spec(CollectionSpec.Kind.COLLECTION, options, indexes);
  }

  /**
   * An expiry would remove documents whose changes are not applied yet. So the collection is
   * created without it.
   */
  @Test
  void createsCollectionWithOptionsExceptExpiry() throws InterruptedException {
    structure.create(
        collection(
            "{validator: {a: 1}, collation: {locale: 'fr'}, clusteredIndex: {key: {_id: 1}},"
                + " expireAfterSeconds: 60, autoIndexId: true}"),
        List.of());
    assertThat(server.asWritten("create"))
        .containsExactly(
            json(
                "{create: 'c', validator: {a: 1}, collation: {locale: 'fr'},"
                    + " clusteredIndex: {key: {_id: 1}}}"));
    assertThat(server.seen("create").get(0).getString("$db").getValue()).isEqualTo("e");
  }

  @Test
  void acceptsExistingCollection() throws InterruptedException {
    server.script(
        command ->
            command.getFirstKey().equals("create")
                ? json("{ok: 0, code: 48, errmsg: 'exists'}")
                : null);
    structure.create(collection("{}"), List.of());
    server.script(
        command ->
            command.getFirstKey().equals("create")
                ? json("{ok: 0, code: 72, errmsg: 'option'}")
                : null);
    assertThatThrownBy(() -> structure.create(collection("{}"), List.of()))
        .isInstanceOf(MongoCommandException.class);
  }

  @Test
  void createsViewOnRenamedCollection() throws InterruptedException {
    structure.create(spec(CollectionSpec.Kind.VIEW, "{viewOn: 'on', pipeline: []}"), List.of());
    structure.create(spec(CollectionSpec.Kind.VIEW, "{viewOn: 'not', pipeline: []}"), List.of());
    assertThat(server.asWritten("create"))
        .containsExactly(
            json("{create: 'c', viewOn: 'on', pipeline: []}"),
            json("{create: 'c', viewOn: 'not', pipeline: []}"));
    assertThat(notes).containsExactly("e.c is a view of not, which is not copied");
  }

  @Test
  void buildsUniqueAndExpiringIndexesLast() throws InterruptedException {
    structure.buildIndexes(collection("{}", INDEXES));
    assertThat(server.asWritten("createIndexes"))
        .containsExactly(
            json(
                "{createIndexes: 'c', indexes: ["
                    + "{v: 2, key: {a: 1}, name: 'a_1', collation: {locale: 'simple'}},"
                    + "{v: 2, key: {s: 1}, name: 's_1', collation: {locale: 'fr'}},"
                    + "{v: 1, key: {o: 1}, name: 'o_1'}]}"));

    server.script(
        command ->
            command.getFirstKey().equals("listIndexes")
                ? ScriptedReplicaSet.cursor(INDEXES[0], INDEXES[3], INDEXES[4])
                : null);
    structure.finish(collection("{expireAfterSeconds: 90}", INDEXES));
    assertThat(server.asWritten("createIndexes").get(1))
        .isEqualTo(
            json(
                "{createIndexes: 'c', indexes: ["
                    + "{v: 2, key: {u: 1}, name: 'u_1', unique: true,"
                    + " collation: {locale: 'simple'}},"
                    + "{v: 2, key: {t: 1}, name: 't_1', expireAfterSeconds: 60,"
                    + " collation: {locale: 'simple'}}]}"));
    assertThat(server.asWritten("collMod"))
        .containsExactly(json("{collMod: 'c', expireAfterSeconds: 90}"));
  }

  @Test
  void changesExpiryOfExistingIndex() throws InterruptedException {
    server.script(
        command ->
            command.getFirstKey().equals("listIndexes")
                ? ScriptedReplicaSet.cursor(INDEXES[2].replace("60", "2147483647"))
                : null);
    structure.finish(collection("{}", INDEXES[2]));
    assertThat(server.asWritten("collMod"))
        .containsExactly(json("{collMod: 'c', index: {name: 't_1', expireAfterSeconds: 60}}"));
  }

  @Test
  void reportsCollectionOfRejectedIndex() {
    server.script(
        command ->
            command.getFirstKey().equals("createIndexes")
                ? json("{ok: 0, code: 67, errmsg: 'too many'}")
                : null);
    assertThatThrownBy(() -> structure.buildIndexes(collection("{}", INDEXES)))
        .isInstanceOf(CopyException.class)
        .hasMessageStartingWith("indexes of e.c can't be built: ")
        .hasMessageContaining("too many");
  }

  /**
   * A collection with the same name but another UUID may belong to another user, so it must not be
   * dropped.
   */
  @Test
  void dropsOnlyListedCollection() throws InterruptedException {
    BsonDocument info = json("{uuid: {$uuid: '00000000-0000-4000-8000-000000000001'}}");
    server.script(
        command ->
            command.containsKey("collectionUUID")
                ? json("{ok: 0, code: 361, errmsg: 'mismatch'}")
                : null);
    structure.drop("e.c", info);
    assertThat(server.asWritten("drop"))
        .containsExactly(json("{drop: 'c'}").append("collectionUUID", info.get("uuid")));
  }

  @Test
  void dropsByNameIfServerRejectsUuid() throws InterruptedException {
    server.script(
        command ->
            command.containsKey("collectionUUID")
                ? json(
                    "{ok: 0, code: 40415, errmsg: \"BSON field 'drop.collectionUUID' is an unknown"
                        + " field.\"}")
                : null);
    structure.drop("e.c", json("{uuid: {$uuid: '00000000-0000-4000-8000-000000000001'}}"));
    assertThat(server.asWritten("drop")).hasSize(2).last().isEqualTo(json("{drop: 'c'}"));
  }

  @Test
  void retriesAfterStepDown() throws InterruptedException {
    server.script(
        command -> {
          if (!command.getFirstKey().equals("createIndexes")) {
            return null;
          }
          server.script(all -> null);
          return json("{ok: 0, code: 189, errmsg: 'steps down'}");
        });
    structure.buildIndexes(collection("{}", INDEXES[0]));
    assertThat(server.seen("createIndexes")).hasSize(2);
  }
}
