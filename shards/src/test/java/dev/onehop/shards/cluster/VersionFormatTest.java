package dev.onehop.shards.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.core.table.RoutingTable;
import java.util.List;
import java.util.Map;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The format of the shard version for each server version, from the sources of the servers. The
 * format of 6.0 was also tested with a server.
 */
class VersionFormatTest {
  private static final RoutingTable SHARDED =
      RoutingTable.of(
          BsonDocument.parse(
              """
              {_id: 'd.c', lastmodEpoch: {$oid: '0102030405060708090a0b0c'},
               lastmod: {$date: 0}, timestamp: {$timestamp: {t: 7, i: 1}},
               uuid: {$binary: {base64: 'AAECAwQFBgcICQoLDA0ODw==', subType: '04'}},
               key: {_id: 1}, unique: false}
              """),
          List.of(
              chunk("{_id: {$minKey: 1}}", "{_id: 0}", "s0", 3, 1),
              chunk("{_id: 0}", "{_id: {$maxKey: 1}}", "s1", 4, 2)));
  private static final RoutingTable UNSHARDED =
      RoutingTable.unsharded(
          "d.u",
          BsonDocument.parse(
              """
              {_id: 'd', primary: 's1', partitioned: false,
               version: {uuid: {$binary: {base64: 'AAECAwQFBgcICQoLDA0ODw==', subType: '04'}},
                         timestamp: {$timestamp: {t: 5, i: 1}}, lastMod: 1}}
              """),
          Map.of());

  private static BsonDocument chunk(String min, String max, String shard, int major, int minor) {
    return BsonDocument.parse(
        """
        {_id: {$oid: '0102030405060708090a0b0d'},
         uuid: {$binary: {base64: 'AAECAwQFBgcICQoLDA0ODw==', subType: '04'}},
         min: %s, max: %s, shard: '%s', lastmod: {$timestamp: {t: %d, i: %d}}}
        """
            .formatted(min, max, shard, major, minor));
  }

  @ParameterizedTest(name = "wire version {0}")
  @CsvSource({
    "9, EPOCH",
    "12, EPOCH",
    "13, ARRAY",
    "14, ARRAY",
    "17, DOCUMENT",
    "21, DOCUMENT",
    "25, DOCUMENT",
    "26, DOCUMENT"
  })
  void formatDependsOnWireVersion(int wireVersion, VersionFormat format) {
    assertThat(VersionFormat.of(wireVersion)).isEqualTo(format);
  }

  @Test
  void attachesShardVersion() {
    assertThat(VersionFormat.EPOCH.attach(SHARDED, "s1"))
        .isEqualTo(
            BsonDocument.parse(
                "{shardVersion: [{$timestamp: {t: 4, i: 2}},"
                    + " {$oid: '0102030405060708090a0b0c'}]}"));
    assertThat(VersionFormat.ARRAY.attach(SHARDED, "s0"))
        .isEqualTo(
            BsonDocument.parse(
                "{shardVersion: [{$timestamp: {t: 3, i: 1}}, {$oid: '0102030405060708090a0b0c'},"
                    + " {$timestamp: {t: 7, i: 1}}]}"));
    assertThat(VersionFormat.DOCUMENT.attach(SHARDED, "s1"))
        .isEqualTo(
            BsonDocument.parse(
                "{shardVersion: {e: {$oid: '0102030405060708090a0b0c'},"
                    + " t: {$timestamp: {t: 7, i: 1}}, v: {$timestamp: {t: 4, i: 2}}}}"));
  }

  @Test
  void shardWithoutChunksHasVersionZero() {
    assertThat(VersionFormat.DOCUMENT.attach(SHARDED, "s2"))
        .isEqualTo(
            BsonDocument.parse(
                "{shardVersion: {e: {$oid: '0102030405060708090a0b0c'},"
                    + " t: {$timestamp: {t: 7, i: 1}}, v: {$timestamp: {t: 0, i: 0}}}}"));
  }

  @Test
  void attachesDatabaseVersionForUnshardedCollection() {
    String database =
        "databaseVersion: {uuid: {$binary: {base64: 'AAECAwQFBgcICQoLDA0ODw==', subType: '04'}},"
            + " timestamp: {$timestamp: {t: 5, i: 1}}, lastMod: 1}";
    assertThat(VersionFormat.DOCUMENT.attach(UNSHARDED, "s1"))
        .isEqualTo(
            BsonDocument.parse(
                "{shardVersion: {e: {$oid: '000000000000000000000000'},"
                    + " t: {$timestamp: {t: 0, i: 0}}, v: {$timestamp: {t: 0, i: 0}}}, "
                    + database
                    + "}"));
    assertThat(VersionFormat.ARRAY.attach(UNSHARDED, "s1").getArray("shardVersion")).hasSize(3);
    assertThat(VersionFormat.EPOCH.attach(UNSHARDED, "s1").getArray("shardVersion")).hasSize(2);
  }

  @Test
  void ignored() {
    assertThat(VersionFormat.DOCUMENT.ignored())
        .isEqualTo(
            BsonDocument.parse(
                "{shardVersion: {e: {$oid: '00000000ffffffffffffffff'},"
                    + " t: {$timestamp: {t: 4294967295, i: 4294967295}},"
                    + " v: {$timestamp: {t: 0, i: 0}}}}"));
    assertThat(VersionFormat.ARRAY.ignored().getArray("shardVersion").get(2).asBoolean().getValue())
        .isTrue();
    assertThat(VersionFormat.EPOCH.ignored().getArray("shardVersion")).hasSize(2);
  }
}
