package dev.onehop.core.targeting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.table.ShardKeyException;
import dev.onehop.core.table.Tables;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class WriteTargetingTest {
  private static final TargetingOptions NONE = TargetingOptions.NONE;
  private static final RoutingTable BY_A = Tables.split("{a: 1}", "{a: 10}", "{a: 20}");
  private static final RoutingTable BY_ID = Tables.split("{_id: 1}", "{_id: 10}", "{_id: 20}");
  private static final RoutingTable COMPOUND =
      Tables.split("{a: 1, 'b.c': 1}", "{a: 10, 'b.c': 0}", "{a: 20, 'b.c': 0}");
  private static final RoutingTable UNSHARDED =
      RoutingTable.unsharded(
          "db.u",
          BsonDocument.parse("{_id: 'db', primary: 's07', version: {lastMod: 3}}"),
          Map.of());
  private static final RoutingTable UNSPLITTABLE =
      RoutingTable.of(
          Tables.collection("{_id: 1}").append("unsplittable", BsonBoolean.TRUE),
          Tables.chunks(doc("{_id: 1}"), List.of()));

  @Test
  void insertTargetsChunkOfKey() {
    Cases.check(BY_A, Targeter.insert(BY_A, doc("{_id: 1, a: 15}")), "1");
    Cases.check(BY_A, Targeter.insert(BY_A, doc("{_id: 1}")), "0");
    Cases.check(BY_A, Targeter.insert(BY_A, doc("{_id: 1, a: null}")), "0");
    Cases.check(COMPOUND, Targeter.insert(COMPOUND, doc("{a: 10, b: {c: -1}}")), "0");
    Cases.check(COMPOUND, Targeter.insert(COMPOUND, doc("{a: 10, b: {c: 1}}")), "1");
    Cases.check(COMPOUND, Targeter.insert(COMPOUND, doc("{a: 10, b: 5}")), "0");
  }

  @Test
  void insertWithServerGeneratedKeyTargetsAllShards() {
    Cases.check(BY_ID, Targeter.insert(BY_ID, doc("{x: 1}")), "*");
    Cases.check(BY_A, Targeter.insert(BY_A, doc("{a: {$timestamp: {t: 0, i: 0}}}")), "*");
  }

  @Test
  void insertRejectsArrayInKey() {
    assertThatThrownBy(() -> Targeter.insert(BY_A, doc("{a: [1]}")))
        .isInstanceOf(ShardKeyException.class)
        .hasMessageContaining("array")
        .hasMessageContaining("a");
    assertThatThrownBy(() -> Targeter.insert(COMPOUND, doc("{a: 1, b: [{c: 1}]}")))
        .isInstanceOf(ShardKeyException.class)
        .hasMessageContaining("b.c");
  }

  static Stream<Arguments> updates() {
    return Cases.of(
        """
        {a: 15} -> 1
        {a: 15, _id: 7} -> 1
        {_id: 7} -> *
        {} -> *
        {a: {$gt: 15}} -> 1-2
        {a: {$in: [5, 25]}} -> 0 2
        """);
  }

  @ParameterizedTest
  @MethodSource("updates")
  void updatesAndDeletesFollowFilter(String filter, String chunks) {
    for (boolean multi : new boolean[] {false, true}) {
      Cases.check(
          BY_A,
          Targeter.update(BY_A, doc(filter), doc("{$set: {x: 1}}"), multi, false, NONE),
          chunks);
      Cases.check(BY_A, Targeter.delete(BY_A, doc(filter), multi, NONE), chunks);
    }
    Cases.check(
        BY_A,
        Targeter.update(
            BY_A, doc(filter), doc("{p: [{$set: {x: 1}}]}").getArray("p"), false, false, NONE),
        chunks);
  }

  static Stream<Arguments> equalityOnly() {
    return Cases.of(
        """
        {a: 15, 'b.c': 1} -> 1
        {a: 15, b: {c: 1}} -> 1
        {a: {$eq: 15}, 'b.c': {$eq: 1}} -> 1
        {$and: [{a: 15}, {'b.c': 1}]} -> 1
        {a: 15, 'b.c': 1, x: {$gt: 3}} -> 1
        {a: 10, 'b.c': null} -> 0
        {a: 15} -> *
        {a: 15, 'b.c': {$gt: 1}} -> *
        {a: 15, 'b.c': /x/} -> *
        {a: 15, 'b.c': [1]} -> *
        {a: 15, b: 3} -> *
        {$or: [{a: 15, 'b.c': 1}]} -> *
        {a: {$in: [15]}, 'b.c': 1} -> *
        {$and: [{a: 15}, {a: 25}, {'b.c': 1}]} -> *
        {_id: 1} -> *
        """);
  }

  @ParameterizedTest
  @MethodSource("equalityOnly")
  void upsertsAndFindAndModifyNeedEqualityOnTheWholeKey(String filter, String chunks) {
    Cases.check(COMPOUND, Targeter.findAndModify(COMPOUND, doc(filter), NONE), chunks);
    Cases.check(
        COMPOUND,
        Targeter.update(COMPOUND, doc(filter), doc("{$set: {x: 1}}"), false, true, NONE),
        chunks);
    Cases.check(
        COMPOUND,
        Targeter.replace(COMPOUND, doc(filter), doc("{a: 25, b: {c: 1}}"), true, NONE),
        chunks);
  }

  @Test
  void collationDisablesEqualityOfStrings() {
    TargetingOptions french = new TargetingOptions(doc("{locale: 'fr'}"), null);
    Cases.check(BY_A, Targeter.findAndModify(BY_A, doc("{a: 'x'}"), NONE), "2");
    Cases.check(BY_A, Targeter.findAndModify(BY_A, doc("{a: 'x'}"), french), "*");
    Cases.check(BY_A, Targeter.findAndModify(BY_A, doc("{a: 15}"), french), "1");
  }

  @Test
  void replacementFollowsFilterElseNewKey() {
    BsonDocument replacement = doc("{a: 25}");
    Cases.check(BY_A, Targeter.replace(BY_A, doc("{a: 15}"), replacement, false, NONE), "1");
    Cases.check(BY_A, Targeter.replace(BY_A, doc("{_id: 7}"), replacement, false, NONE), "2");
    Cases.check(
        BY_A, Targeter.replace(BY_A, doc("{_id: {$eq: 7}}"), replacement, false, NONE), "2");
    Cases.check(BY_A, Targeter.replace(BY_A, doc("{x: 7}"), replacement, false, NONE), "*");
    Cases.check(BY_A, Targeter.replace(BY_A, doc("{_id: 7, x: 1}"), replacement, false, NONE), "*");
    Cases.check(BY_A, Targeter.replace(BY_A, doc("{_id: 7}"), doc("{a: [1]}"), false, NONE), "*");
    Cases.check(BY_A, Targeter.update(BY_A, doc("{_id: 7}"), replacement, false, false, NONE), "2");
    RoutingTable byIdAndA = Tables.split("{_id: 1, a: 1}", "{_id: 10, a: 10}", "{_id: 10, a: 20}");
    Cases.check(
        byIdAndA, Targeter.replace(byIdAndA, doc("{_id: 10}"), replacement, false, NONE), "2");
  }

  static Stream<Arguments> pipelines() {
    return Cases.of(
        """
        {p: []} -> *
        {p: [{$match: {a: 15}}]} -> 1
        {p: [{$match: {a: {$gte: 10}}}, {$match: {a: {$lt: 20}}}]} -> 1
        {p: [{$sort: {x: 1}}, {$match: {a: 15}}]} -> 1
        {p: [{$match: {x: 1}}, {$sort: {x: 1}}, {$match: {a: 15}}, {$group: {_id: 1}}]} -> 1
        {p: [{$limit: 5}, {$match: {a: 15}}]} -> *
        {p: [{$project: {a: '$b'}}, {$match: {a: 15}}]} -> *
        {p: [{$group: {_id: '$a'}}]} -> *
        {p: [{$match: {$expr: {$eq: ['$a', '$$x']}}}]} -> 0
        """);
  }

  @ParameterizedTest
  @MethodSource("pipelines")
  void aggregationFollowsLeadingMatchStages(String pipeline, String chunks) {
    List<BsonDocument> stages =
        doc(pipeline).getArray("p").stream().map(stage -> stage.asDocument()).toList();
    TargetingOptions let = new TargetingOptions(null, doc("{x: 5}"));
    Cases.check(BY_A, Targeter.aggregate(BY_A, stages, let), chunks);
  }

  @Test
  void unshardedCollectionsTargetPrimaryShard() {
    for (Target target : allOperations(UNSHARDED)) {
      assertThat(target.shard()).isEqualTo("s07");
      assertThat(target.isBroadcast()).isFalse();
      assertThat(target.chunkCount()).isZero();
      assertThat(target.explain(5).chunks()).isEmpty();
    }
  }

  @Test
  void trackedUnshardedCollectionsTargetTheirOnlyChunk() {
    for (Target target : allOperations(UNSPLITTABLE)) {
      assertThat(target.shard()).isEqualTo("s00");
      assertThat(target.chunkCount()).isEqualTo(1);
    }
  }

  @Test
  void anExplanationNamesChunksShardsAndTheReason() {
    TargetExplanation explanation = Targeter.find(BY_A, doc("{a: {$gte: 15}}"), NONE).explain(10);
    assertThat(explanation.namespace()).isEqualTo("db.c");
    assertThat(explanation.shardKey()).isEqualTo(doc("{a: 1}"));
    assertThat(explanation.totalChunks()).isEqualTo(3);
    assertThat(explanation.touchedChunks()).isEqualTo(2);
    assertThat(explanation.chunks()).containsExactly(BY_A.chunk(1), BY_A.chunk(2));
    assertThat(explanation.shards()).containsExactly("s01", "s02");
    assertThat(explanation.broadcast()).isFalse();
    assertThat(explanation.reason()).contains("a");
    assertThat(Targeter.find(BY_A, doc("{a: {$gte: 15}}"), NONE).explain(1).chunks()).hasSize(1);

    Target all = Targeter.find(BY_A, doc("{a: {$type: 'int'}}"), NONE);
    assertThat(all.explain(10).broadcast()).isTrue();
    assertThat(all.reason()).contains("$type");
    assertThatThrownBy(all::shard)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("s00, s01, s02");
  }

  private static List<Target> allOperations(RoutingTable table) {
    BsonDocument filter = doc("{x: {$gt: 1}}");
    BsonDocument update = doc("{$set: {y: 1}}");
    return List.of(
        Targeter.find(table, filter, NONE),
        Targeter.aggregate(table, List.of(), NONE),
        Targeter.insert(table, doc("{x: [1]}")),
        Targeter.update(table, filter, update, true, false, NONE),
        Targeter.update(table, filter, update, false, true, NONE),
        Targeter.replace(table, filter, doc("{y: 1}"), false, NONE),
        Targeter.replace(table, filter, doc("{y: 1}"), true, NONE),
        Targeter.delete(table, filter, true, NONE),
        Targeter.findAndModify(table, filter, NONE));
  }

  private static BsonDocument doc(String json) {
    return BsonDocument.parse(json);
  }
}
