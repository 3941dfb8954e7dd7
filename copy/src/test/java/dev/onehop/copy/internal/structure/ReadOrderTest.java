package dev.onehop.copy.internal.structure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.progress.CopyException;
import java.util.ArrayList;
import java.util.List;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which indexes have exactly one entry for each document, in the order of the values. */
class ReadOrderTest {
  private final List<String> notes = new ArrayList<>();
  @AutoClose private final ScriptedReplicaSet server = new ScriptedReplicaSet();
  @AutoClose private final ClusterEnd source = server.connect("source");

  private static CollectionSpec spec(String name, String options, String... indexes) {
    List<BsonDocument> all = new ArrayList<>();
    for (String index : indexes) {
      all.add(BsonDocument.parse(index));
    }
    return new CollectionSpec(
        "d." + name,
        "d." + name,
        CollectionSpec.Kind.COLLECTION,
        null,
        BsonDocument.parse(options),
        all,
        null);
  }

  private void check(String order, CollectionSpec... specs) throws InterruptedException {
    new ReadOrder(order).check(source, List.of(specs), notes::add);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      nullValues = "none",
      value = {
        "a_1                         | {name: 'a_1', key: {a: 1}}",
        "{a: 1}                      | {name: 'a_1', key: {a: 1}}",
        "{a: {$numberDouble: '1.0'}} | {name: 'a_1', key: {a: 1}}",
        "{a: -1}                     | none",
        "_id_                        | {key: {_id: 1}}",
        "{_id: 1}                    | {key: {_id: 1}}"
      })
  void findsIndexByNameOrKey(String order, @Nullable String index) {
    BsonDocument found =
        new ReadOrder(order).of(spec("c", "{}", "{v: 2, key: {a: 1}, name: 'a_1'}"));
    assertThat(found).isEqualTo(index == null ? null : BsonDocument.parse(index));
  }

  @Test
  void cappedCollectionsUseNoIndex() {
    assertThat(new ReadOrder("_id_").of(spec("c", "{capped: true, size: 4096}"))).isNull();
  }

  @Test
  void reportsCollectionsWithoutIndex() throws InterruptedException {
    check("a_1", spec("c", "{}", "{v: 2, key: {a: 1}, name: 'a_1'}"), spec("d", "{}"));
    assertThat(notes)
        .containsExactly("collections without the index a_1 are read in another order: d.d");
    assertThatThrownBy(() -> check("a_1", spec("d", "{}")))
        .isInstanceOf(CopyException.class)
        .hasMessage("no collection has the index a_1");
  }

  @ParameterizedTest
  @CsvSource({
    "sparse: true, is sparse",
    "partialFilterExpression: {a: 1}, is partial",
    "hidden: true, is hidden",
    "collation: {locale: 'fr'}, has a collation"
  })
  void rejectsUnsuitableIndex(String property, String why) {
    assertThatThrownBy(
            () ->
                check(
                    "a_1",
                    spec("c", "{}", "{v: 2, key: {a: 1}, name: 'a_1', %s}".formatted(property))))
        .isInstanceOf(CopyException.class)
        .hasMessageContaining(why);
  }

  @ParameterizedTest
  @ValueSource(strings = {"{a: 'hashed'}", "{_fts: 'text', _ftsx: 1}", "{a: '2dsphere'}"})
  void rejectsIndexWithoutOrderOfValues(String key) {
    assertThatThrownBy(() -> check("i", spec("c", "{}", "{key: %s, name: 'i'}".formatted(key))))
        .isInstanceOf(CopyException.class)
        .hasMessageContaining("does not keep the order of values");
  }

  @Test
  void rejectsMultikeyIndex() {
    server.script(
        command ->
            command.getFirstKey().equals("explain")
                ? BsonDocument.parse(
                    "{ok: 1, queryPlanner: {winningPlan: {stage: 'FETCH', inputStage:"
                        + " {stage: 'IXSCAN', isMultiKey: true}}}}")
                : null);
    assertThatThrownBy(() -> check("a_1", spec("c", "{}", "{v: 2, key: {a: 1}, name: 'a_1'}")))
        .isInstanceOf(CopyException.class)
        .hasMessageContaining("has several entries for a document");
  }
}
