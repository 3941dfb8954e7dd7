package dev.onehop.core.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonMaxKey;
import org.bson.BsonMinKey;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.Test;

class MergedRoutingTableTest {
  private static final BsonDocument COLLECTION = Tables.collection("{a: 1}");

  private final RoutingTable table = Tables.split("{a: 1}", "{a: 10}", "{a: 20}");

  @Test
  void aMovedChunkHasANewOwner() {
    RoutingTable moved =
        table.merge(
            COLLECTION,
            List.of(
                Tables.chunk("{a: 10}", "{a: 20}", "new", 2, 0),
                Tables.chunk("{a: 20}", "{a: {$maxKey: 1}}", "s02", 2, 1)));
    assertThat(moved.chunkCount()).isEqualTo(3);
    assertThat(moved.shards()).containsExactly("new", "s00", "s02");
    assertThat(moved.shardVersion("new")).hasToString("2|0");
    assertThat(moved.shardVersion("s01")).hasToString("0|0");
    assertThat(moved.version()).hasToString("2|1");
    assertThat(table.shards()).containsExactly("s00", "s01", "s02");
  }

  @Test
  void splitChunkIsReplacedByItsParts() {
    RoutingTable split =
        table.merge(
            COLLECTION,
            List.of(
                Tables.chunk("{a: 10}", "{a: 12}", "s01", 1, 3),
                Tables.chunk("{a: 12}", "{a: 20}", "s01", 1, 4)));
    assertThat(split.chunkCount()).isEqualTo(4);
    assertThat(split.chunk(2).min()).isEqualTo(BsonDocument.parse("{a: 12}"));
    assertThat(split.chunk(2).max()).isEqualTo(BsonDocument.parse("{a: 20}"));
  }

  @Test
  void mergedChunkReplacesCoveredChunks() {
    RoutingTable merged =
        table.merge(COLLECTION, List.of(Tables.chunk("{a: 10}", "{a: {$maxKey: 1}}", "s02", 2, 0)));
    assertThat(merged.chunkCount()).isEqualTo(2);
    assertThat(merged.shards()).containsExactly("s00", "s02");
    RoutingTable one =
        merged.merge(
            COLLECTION,
            List.of(Tables.chunk("{a: {$minKey: 1}}", "{a: {$maxKey: 1}}", "s00", 3, 0)));
    assertThat(one.chunkCount()).isEqualTo(1);
  }

  @Test
  void newestOfOverlappingChunksWins() {
    RoutingTable merged =
        table.merge(
            COLLECTION,
            List.of(
                Tables.chunk("{a: 12}", "{a: 20}", "s08", 2, 1),
                Tables.chunk("{a: 10}", "{a: 20}", "s09", 1, 9),
                Tables.chunk("{a: 10}", "{a: 12}", "s07", 2, 0)));
    assertThat(merged.chunkCount()).isEqualTo(4);
    assertThat(merged.shards()).containsExactly("s00", "s02", "s07", "s08");
  }

  @Test
  void neverReturnsToOlderVersion() {
    RoutingTable same =
        table.merge(
            COLLECTION,
            List.of(
                Tables.chunk("{a: 10}", "{a: 20}", "old", 1, 1),
                Tables.chunk("{a: 20}", "{a: {$maxKey: 1}}", "s02", 1, 2)));
    assertThat(same.shards()).containsExactly("s00", "s01", "s02");
    assertThatThrownBy(
            () -> table.merge(COLLECTION, List.of(Tables.chunk("{a: 10}", "{a: 20}", "x", 1, 1))))
        .isInstanceOf(InconsistentRoutingTableException.class)
        .hasMessageContainingAll("db.c", "1|2");
    assertThatThrownBy(() -> table.merge(COLLECTION, List.of()))
        .isInstanceOf(InconsistentRoutingTableException.class);
  }

  @Test
  void rejectsInconsistentChangesWithReason() {
    assertRejected(
        COLLECTION,
        List.of(Tables.chunk("{a: 12}", "{a: 20}", "x", 2, 0)),
        "gap",
        "{\"a\": 10}",
        "{\"a\": 12}");
    assertRejected(
        COLLECTION,
        List.of(Tables.chunk("{a: 5}", "{a: 15}", "x", 2, 0)),
        "gap",
        "$minKey",
        "{\"a\": 5}");
    assertRejected(
        COLLECTION,
        List.of(Tables.chunk("{a: 20}", "{a: 10}", "x", 2, 0)),
        "{\"a\": 20} is not below its max {\"a\": 10}");
    List<BsonDocument> newer = List.of(Tables.chunk("{a: 20}", "{a: {$maxKey: 1}}", "s02", 2, 0));
    assertRejected(
        COLLECTION.clone().append("timestamp", new BsonTimestamp(1_800_000_000, 1)),
        newer,
        "another incarnation");
    BsonDocument otherEpoch =
        COLLECTION.clone().append("lastmodEpoch", new BsonObjectId(new ObjectId()));
    otherEpoch.remove("timestamp");
    assertRejected(otherEpoch, newer, "another incarnation", Tables.EPOCH.toHexString());
    assertRejected(
        COLLECTION.clone().append("key", BsonDocument.parse("{a: 1, b: 1}")),
        newer,
        "another incarnation");
    assertRejected(COLLECTION.clone().append("_id", new BsonString("db.other")), newer, "db.other");
  }

  /**
   * Merges thousands of chunks in many buckets, and compares the result with a sorted map of
   * bounds.
   */
  @Test
  void manyMergesEqualAFreshTable() {
    long seed = 20261121;
    Random random = new Random(seed);
    TreeMap<Integer, BsonDocument> model = new TreeMap<>();
    int version = 1;
    for (int i = 0; i < 3_000; i++) {
      put(model, i * 100, (i + 1) * 100, "s" + i % 7, version++);
    }
    model.firstEntry().getValue().append("min", new BsonDocument("a", new BsonMinKey()));
    model.lastEntry().getValue().append("max", new BsonDocument("a", new BsonMaxKey()));
    RoutingTable current = RoutingTable.of(COLLECTION, model.values());
    for (int round = 0; round < 60; round++) {
      int known = version;
      for (int change = random.nextInt(40); change >= 0; change--) {
        version = changeOne(model, random, version);
      }
      List<BsonDocument> changed = new ArrayList<>();
      for (BsonDocument chunk : model.values()) {
        if (chunk.getTimestamp("lastmod").getInc() >= known - 1) {
          changed.add(chunk);
        }
      }
      current = current.merge(COLLECTION, changed);
      RoutingTable fresh = RoutingTable.of(COLLECTION, model.values());
      assertThat(current.chunkCount()).as("seed %d round %d", seed, round).isEqualTo(model.size());
      assertThat(current.version()).isEqualTo(fresh.version());
      assertThat(current.shards()).isEqualTo(fresh.shards());
      for (String shard : fresh.shards()) {
        assertThat(current.shardVersion(shard)).isEqualTo(fresh.shardVersion(shard));
      }
      for (int i = 0; i < fresh.chunkCount(); i++) {
        assertThat(current.chunk(i)).as("seed %d round %d", seed, round).isEqualTo(fresh.chunk(i));
        byte[] min = fresh.shardKeyPattern().keyOfBound(fresh.chunk(i).min());
        assertThat(current.chunkIndexOf(min)).isEqualTo(i);
      }
    }
  }

  private static int changeOne(
      NavigableMap<Integer, BsonDocument> model, Random random, int version) {
    List<Integer> mins = List.copyOf(model.keySet());
    int at = random.nextInt(mins.size());
    int min = mins.get(at);
    BsonDocument chunk = model.get(min);
    Map.Entry<Integer, BsonDocument> next = model.higherEntry(min);
    switch (random.nextInt(3)) {
      case 0 -> // move
          model.put(
              min,
              Tables.chunk(
                  chunk.getDocument("min"),
                  chunk.getDocument("max"),
                  "s" + random.nextInt(9),
                  1,
                  version));
      case 1 -> { // split
        if (next == null || next.getKey() - min < 2) {
          return version;
        }
        int point = min + 1 + random.nextInt(next.getKey() - min - 1);
        BsonDocument bound = bound(new BsonInt32(point));
        String shard = chunk.getString("shard").getValue();
        model.put(min, Tables.chunk(chunk.getDocument("min"), bound, shard, 1, version++));
        model.put(point, Tables.chunk(bound, chunk.getDocument("max"), shard, 1, version));
      }
      default -> { // merge with up to 30 of its successors
        BsonDocument last = chunk;
        for (int i = random.nextInt(30); i >= 0 && model.higherEntry(min) != null; i--) {
          last = model.remove(model.higherKey(min));
        }
        model.put(
            min,
            Tables.chunk(
                chunk.getDocument("min"),
                last.getDocument("max"),
                chunk.getString("shard").getValue(),
                1,
                version));
      }
    }
    return version + 1;
  }

  private static void put(
      Map<Integer, BsonDocument> model, int min, int max, String shard, int version) {
    model.put(
        min, Tables.chunk(bound(new BsonInt32(min)), bound(new BsonInt32(max)), shard, 1, version));
  }

  private static BsonDocument bound(BsonValue value) {
    return new BsonDocument("a", value);
  }

  private void assertRejected(
      BsonDocument collection, List<BsonDocument> changed, String... messages) {
    assertThatThrownBy(() -> table.merge(collection, changed))
        .isInstanceOf(InconsistentRoutingTableException.class)
        .hasMessageContainingAll(messages);
  }
}
