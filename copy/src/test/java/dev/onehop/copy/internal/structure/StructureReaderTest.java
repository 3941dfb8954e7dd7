package dev.onehop.copy.internal.structure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.internal.Mapping;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.progress.CopyException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The collections of a replica set that are copied. */
class StructureReaderTest {
  private static final String UUID =
      "{uuid: {$uuid: '00000000-0000-4000-8000-00000000000%d'}, readOnly: false}";

  private final List<String> notes = new ArrayList<>();
  @AutoClose private final ScriptedReplicaSet server = new ScriptedReplicaSet();
  @AutoClose private final ClusterEnd source = server.connect("source");

  @BeforeEach
  void connect() throws InterruptedException {
    server.script(
        command ->
            switch (command.getFirstKey()) {
              case "listDatabases" ->
                  BsonDocument.parse(
                      "{ok: 1, databases: [{name: 'admin'}, {name: 'config'}, {name: 'd'},"
                          + " {name: 'local'}, {name: 'onehop_copy'}]}");
              case "listCollections" ->
                  ScriptedReplicaSet.cursor(
                      "{name: 'v', type: 'view', options: {viewOn: 'c', pipeline: []}, info: {}}",
                      "{name: 'c', type: 'collection', options: {capped: true, size: 1}, info: "
                          + UUID.formatted(1)
                          + "}",
                      "{name: 't', type: 'timeseries', options: {timeseries: {timeField: 'at'}},"
                          + " info: {}}",
                      "{name: 'system.buckets.t', type: 'collection', options: {}, info: "
                          + UUID.formatted(2)
                          + "}",
                      "{name: 'system.views', type: 'collection', options: {}, info: {}}",
                      "{name: 'system.js', type: 'collection', options: {}, info: {}}");
              case "listIndexes" ->
                  ScriptedReplicaSet.cursor(
                      "{v: 2, key: {_id: 1}, name: '_id_', ns: 'd.c'}",
                      "{v: 2, key: {a: 1}, name: 'a_1', ns: 'd.c', sparse: true}",
                      "{v: 2, key: {_id: 1}, name: 'clustered', clustered: true, unique: true}");
              default -> null;
            });
  }

  private List<CollectionSpec> read(Mapping mapping) throws InterruptedException {
    return new StructureReader(source, mapping, notes::add).toCopy();
  }

  @Test
  void readsViewsLastAndOmitsSystemCollections() throws InterruptedException {
    List<CollectionSpec> specs = read(Mapping.ALL);
    assertThat(specs).extracting(CollectionSpec::namespace).containsExactly("d.c", "d.t", "d.v");
    assertThat(specs)
        .extracting(CollectionSpec::kind)
        .containsExactly(
            CollectionSpec.Kind.COLLECTION,
            CollectionSpec.Kind.TIME_SERIES,
            CollectionSpec.Kind.VIEW);
    assertThat(specs.get(0).isCapped()).isTrue();
    assertThat(specs.get(0).uuid())
        .isEqualTo(BsonDocument.parse(UUID.formatted(1)).getBinary("uuid"));
    assertThat(specs.get(0).indexes())
        .containsExactly(BsonDocument.parse("{v: 2, key: {a: 1}, name: 'a_1', sparse: true}"));
    assertThat(notes)
        .containsExactly("d.system.js is not copied, because no change stream has its changes");
  }

  @Test
  void timeSeriesHasUuidOfItsBuckets() throws InterruptedException {
    CollectionSpec series =
        read(new Mapping(List.of(), List.of(), Map.of("d", "e"), Map.of(), null)).get(1);
    assertThat(series.uuid()).isEqualTo(BsonDocument.parse(UUID.formatted(2)).getBinary("uuid"));
    assertThat(series.stored()).isEqualTo("d.system.buckets.t");
    assertThat(series.storedThere()).isEqualTo("e.system.buckets.t");
    assertThat(series.destination()).isEqualTo("e.t");
  }

  @Test
  void omitsExcludedCollections() throws InterruptedException {
    assertThat(read(new Mapping(List.of("d.*"), List.of("d.t"), Map.of(), Map.of(), null)))
        .extracting(CollectionSpec::namespace)
        .containsExactly("d.c", "d.v");
  }

  @Test
  void rejectsTwoCollectionsWithOneName() {
    assertThatThrownBy(
            () -> read(new Mapping(List.of(), List.of(), Map.of("d.c", "d.t"), Map.of(), null)))
        .isInstanceOf(CopyException.class)
        .hasMessageContaining("both become d.t");
  }
}
