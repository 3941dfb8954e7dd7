package dev.onehop.core.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.bson.BsonBinary;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonObjectId;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.bson.RawBsonDocument;
import org.bson.codecs.BsonDocumentCodec;
import org.bson.types.ObjectId;
import org.junit.jupiter.api.Test;

class RoutingTableTest {
  private static final BsonDocument KEY = BsonDocument.parse("{a: 1}");
  private static final BsonDocument COLLECTION = Tables.collection("{a: 1}");

  private final List<BsonDocument> three = Tables.chunks(KEY, Tables.points("{a: 10}", "{a: 20}"));

  @Test
  void sortsChunksByKey() {
    Collections.shuffle(three, new Random(7));
    RoutingTable table = RoutingTable.of(COLLECTION, three);
    assertThat(table.chunkCount()).isEqualTo(3);
    assertThat(table.chunk(0)).isEqualTo(chunk("{a: {$minKey: 1}}", "{a: 10}", "s00", 1, 0));
    assertThat(table.chunk(1)).isEqualTo(chunk("{a: 10}", "{a: 20}", "s01", 1, 1));
    assertThat(table.chunk(2)).isEqualTo(chunk("{a: 20}", "{a: {$maxKey: 1}}", "s02", 1, 2));
    assertThat(table.namespace()).isEqualTo("db.c");
    assertThat(table.uuid()).isEqualTo(Tables.UUID);
    assertThat(table.isSharded()).isTrue();
    assertThat(table.isUnsplittable()).isFalse();
    assertThat(table.defaultCollation()).isNull();
    assertThat(table.version()).hasToString("1|2");
    assertThatThrownBy(() -> table.chunk(3)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatThrownBy(table::primaryShard).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void chunkContainsMinButNotMax() {
    RoutingTable table = RoutingTable.of(COLLECTION, three);
    assertThat(shardOf(table, "{a: 9.99}")).isEqualTo("s00");
    assertThat(shardOf(table, "{a: 10}")).isEqualTo("s01");
    assertThat(shardOf(table, "{a: {$numberDecimal: '19.9'}}")).isEqualTo("s01");
    assertThat(shardOf(table, "{a: 20}")).isEqualTo("s02");
    assertThat(shardOf(table, "{a: {$minKey: 1}}")).isEqualTo("s00");
    assertThat(shardOf(table, "{a: {$maxKey: 1}}")).isEqualTo("s02");
    assertThat(shardOf(table, "{a: 'x'}")).isEqualTo("s02");
    assertThat(shardOf(table, "{}")).isEqualTo("s00");
  }

  @Test
  void matchesChunksOf44ByNamespace() {
    BsonDocument collection =
        BsonDocument.parse("{_id: 'db.c', key: {a: 1}, dropped: false, unique: false}")
            .append("lastmodEpoch", new BsonObjectId(Tables.EPOCH));
    List<BsonDocument> chunks = new ArrayList<>();
    for (BsonDocument chunk : three) {
      BsonDocument old = chunk.clone();
      old.remove("uuid");
      chunks.add(
          old.append("ns", new BsonString("db.c"))
              .append("lastmodEpoch", new BsonObjectId(Tables.EPOCH)));
    }
    RoutingTable table = RoutingTable.of(collection, chunks);
    assertThat(table.uuid()).isNull();
    assertThat(table.version()).isEqualTo(new ChunkVersion(Tables.EPOCH, null, 1, 2));
    assertThat(shardOf(table, "{a: 15}")).isEqualTo("s01");

    chunks.get(1).append("lastmodEpoch", new BsonObjectId(new ObjectId()));
    assertRejected(collection, chunks, "another epoch", Tables.EPOCH.toHexString());
  }

  @Test
  void hasVersionOfEachShard() {
    RoutingTable table =
        RoutingTable.of(
            COLLECTION,
            List.of(
                Tables.chunk("{a: {$minKey: 1}}", "{a: 1}", "x", 3, 1),
                Tables.chunk("{a: 1}", "{a: 2}", "y", 4, 0),
                Tables.chunk("{a: 2}", "{a: {$maxKey: 1}}", "x", 3, 7)));
    assertThat(table.version()).isEqualTo(version(4, 0));
    assertThat(table.shardVersion("x")).isEqualTo(version(3, 7));
    assertThat(table.shardVersion("y")).isEqualTo(version(4, 0));
    assertThat(table.shardVersion("z")).isEqualTo(version(0, 0));
    assertThat(table.shards()).containsExactly("x", "y");
    assertThat(table.shardsOfChunks(2, 2)).containsExactly("x");
    assertThat(table.version().toTimestamp()).isEqualTo(new BsonTimestamp(4, 0));
    assertThat(version(4, 0)).isGreaterThan(version(3, 7));
    assertThat(version(-1, 0)).isGreaterThan(version(3, 7));
  }

  @Test
  void rejectsGapsAndOverlaps() {
    assertRejected(
        COLLECTION, List.of(three.get(0), three.get(2)), "gap", "{\"a\": 10}", "{\"a\": 20}");
    assertRejected(COLLECTION, three.subList(1, 3), "gap", "$minKey", "{\"a\": 10}");
    assertRejected(COLLECTION, three.subList(0, 2), "gap", "{\"a\": 20}", "$maxKey");
    assertRejected(COLLECTION, List.of(), "gap", "$minKey", "$maxKey");
    assertRejected(
        COLLECTION,
        List.of(three.get(0), Tables.chunk("{a: 10}", "{a: 25}", "s01", 1, 1), three.get(2)),
        "overlap",
        "{\"a\": 20}",
        "{\"a\": 25}");
    assertRejected(
        COLLECTION,
        List.of(three.get(0), three.get(1), three.get(1), three.get(2)),
        "overlap",
        "{\"a\": 10}");
    assertRejected(
        COLLECTION,
        List.of(Tables.chunk("{a: 20}", "{a: 10}", "s01", 1, 1)),
        "{\"a\": 20} is not below its max {\"a\": 10}");
  }

  @Test
  void keepsNewestOfChunksReadTwice() {
    List<BsonDocument> read = new ArrayList<>(three);
    read.add(Tables.chunk("{a: 10}", "{a: 15}", "s01", 1, 3));
    read.add(Tables.chunk("{a: 15}", "{a: 20}", "s01", 1, 4));
    read.add(Tables.chunk("{a: 15}", "{a: 20}", "s00", 2, 0));
    read.add(Tables.chunk("{a: 20}", "{a: {$maxKey: 1}}", "s02", 2, 1));
    Collections.shuffle(read, new Random(7));

    RoutingTable table = RoutingTable.of(COLLECTION, read);

    assertThat(table.chunkCount()).isEqualTo(4);
    assertThat(table.chunk(1)).isEqualTo(chunk("{a: 10}", "{a: 15}", "s01", 1, 3));
    assertThat(table.chunk(2)).isEqualTo(chunk("{a: 15}", "{a: 20}", "s00", 2, 0));
    assertThat(table.chunk(3)).isEqualTo(chunk("{a: 20}", "{a: {$maxKey: 1}}", "s02", 2, 1));
  }

  @Test
  void rejectsSplitWithMissingPart() {
    List<BsonDocument> read = new ArrayList<>(three);
    read.add(Tables.chunk("{a: 10}", "{a: 15}", "s01", 1, 3));

    assertRejected(COLLECTION, read, "overlap", "{\"a\": 10}");
  }

  @Test
  void copiesBoundsOfRawChunks() {
    BsonDocument bound = new BsonDocument("a", new BsonInt64(10));
    List<BsonDocument> raw = new ArrayList<>();
    for (BsonDocument chunk : Tables.chunks(KEY, List.of(bound))) {
      raw.add(new RawBsonDocument(chunk, new BsonDocumentCodec()));
    }

    RoutingTable table = RoutingTable.of(COLLECTION, raw);

    assertThat(table.chunk(1).min()).isEqualTo(bound).isNotInstanceOf(RawBsonDocument.class);
  }

  @Test
  void rejectsChunksOfAnotherCollection() {
    List<BsonDocument> chunks = new ArrayList<>(three);
    chunks.set(1, three.get(1).clone().append("uuid", new BsonBinary((byte) 4, new byte[16])));
    assertRejected(COLLECTION, chunks, "another collection", "db.c");
  }

  @Test
  void rejectsUnknownLayoutsAndNamesField() {
    for (String field : new String[] {"min", "max", "shard", "lastmod"}) {
      List<BsonDocument> chunks = new ArrayList<>(three);
      BsonDocument broken = three.get(1).clone();
      broken.remove(field);
      chunks.set(1, broken);
      assertRejected(COLLECTION, chunks, "config.chunks", field);
      broken.append(field, BsonBoolean.TRUE);
      assertRejected(COLLECTION, chunks, "config.chunks", field);
    }
    BsonDocument neither = three.get(0).clone();
    neither.remove("uuid");
    assertRejected(COLLECTION, List.of(neither), "neither uuid nor ns");
    for (String field : new String[] {"_id", "lastmodEpoch", "key"}) {
      BsonDocument broken = COLLECTION.clone();
      broken.remove(field);
      assertRejected(broken, three, "config.collections", field);
    }
    assertRejected(
        COLLECTION.clone().append("dropped", new BsonString("x")),
        three,
        "config.collections",
        "dropped");
    assertRejected(COLLECTION.clone().append("dropped", BsonBoolean.TRUE), three, "dropped");
    for (String database :
        new String[] {"{_id: 'db'}", "{primary: 's'}", "{primary: 's', version: {}}"}) {
      assertThatThrownBy(
              () -> RoutingTable.unsharded("db.u", BsonDocument.parse(database), Map.of()))
          .isInstanceOf(InconsistentRoutingTableException.class)
          .hasMessageContaining("config.databases");
    }
    List<BsonDocument> otherKey = new ArrayList<>(three);
    otherKey.set(1, Tables.chunk("{b: 10}", "{b: 20}", "s01", 1, 1));
    assertThatThrownBy(() -> RoutingTable.of(COLLECTION, otherKey))
        .isInstanceOf(ShardKeyException.class);
  }

  @Test
  void resolvesShardsByNameAndByUuid() {
    BsonBinary uuid = new BsonBinary(new UUID(1, 2));
    Map<ShardId, String> names =
        ShardId.names(
            List.of(
                new BsonDocument("_id", new BsonString("s00")).append("uuid", uuid),
                BsonDocument.parse("{_id: 's01'}")));
    three.get(2).put("shard", uuid);

    RoutingTable table = RoutingTable.of(COLLECTION, three, names);

    assertThat(table.shards()).containsExactly("s00", "s01");
    assertThat(table.shardVersion("s00")).hasToString("1|2");
    assertThat(RoutingTable.unsharded("db.u", database(uuid), names).primaryShard())
        .isEqualTo("s00");
    assertRejected(COLLECTION, three, "config.shards", "00000000-0000-0001-0000-000000000002");
    assertThatThrownBy(() -> RoutingTable.unsharded("db.u", database(new BsonInt32(1)), names))
        .isInstanceOf(InconsistentRoutingTableException.class)
        .hasMessageContaining("no string or UUID \"primary\"");
  }

  private static BsonDocument database(BsonValue primary) {
    return new BsonDocument("_id", new BsonString("db"))
        .append("primary", primary)
        .append(
            "version",
            new BsonDocument("uuid", Tables.UUID)
                .append("timestamp", Tables.INCARNATION)
                .append("lastMod", new BsonInt32(3)));
  }

  @Test
  void unshardedCollectionsHaveAPrimaryShardAndADatabaseVersion() {
    BsonDocument database = database(new BsonString("p"));
    RoutingTable table = RoutingTable.unsharded("db.u", database, Map.of());
    assertThat(table.isSharded()).isFalse();
    assertThat(table.primaryShard()).isEqualTo("p");
    assertThat(table.shards()).containsExactly("p");
    assertThat(table.databaseVersion().toBsonDocument()).isEqualTo(database.get("version"));
    assertThatThrownBy(table::chunkCount)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("db.u");
  }

  @Test
  void trackedUnshardedCollectionsHaveOneChunk() {
    RoutingTable table =
        RoutingTable.of(
            Tables.collection("{_id: 1}").append("unsplittable", BsonBoolean.TRUE),
            Tables.chunks(BsonDocument.parse("{_id: 1}"), List.of()));
    assertThat(table.isSharded()).isTrue();
    assertThat(table.isUnsplittable()).isTrue();
    assertThat(table.shards()).containsExactly("s00");
  }

  @Test
  void mergeKeepsZones() {
    BsonDocument tag = BsonDocument.parse("{ns: 'db.c', min: {a: 1}, max: {a: 5}, tag: 'europe'}");
    RoutingTable table = RoutingTable.of(COLLECTION, three).withZones(List.of(tag));
    assertThat(table.zones())
        .containsExactly(
            new Zone("db.c", BsonDocument.parse("{a: 1}"), BsonDocument.parse("{a: 5}"), "europe"));
    assertThat(table.merge(COLLECTION, List.of(three.get(2))).zones()).isEqualTo(table.zones());
    tag.remove("tag");
    assertThatThrownBy(() -> table.withZones(List.of(tag)))
        .isInstanceOf(InconsistentRoutingTableException.class)
        .hasMessageContaining("config.tags");
  }

  private static Chunk chunk(String min, String max, String shard, int major, int minor) {
    return new Chunk(
        BsonDocument.parse(min), BsonDocument.parse(max), shard, version(major, minor));
  }

  private static ChunkVersion version(int major, int minor) {
    return new ChunkVersion(Tables.EPOCH, Tables.INCARNATION, major, minor);
  }

  private static String shardOf(RoutingTable table, String document) {
    return table.shardOf(table.shardKeyPattern().keyOf(BsonDocument.parse(document)));
  }

  private static void assertRejected(
      BsonDocument collection, List<BsonDocument> chunks, String... messages) {
    assertThatThrownBy(() -> RoutingTable.of(collection, chunks))
        .isInstanceOf(InconsistentRoutingTableException.class)
        .hasMessageContainingAll(messages);
  }
}
