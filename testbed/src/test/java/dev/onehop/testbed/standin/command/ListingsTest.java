package dev.onehop.testbed.standin.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;

/** Merges the shards' lists of databases into the cluster's list. */
class ListingsTest {
  @Test
  void mergesDatabasesAndReadsAdminFromConfigServers() {
    BsonDocument joined =
        Listings.joined(
            List.of(
                list(
                    "{name: 'admin', sizeOnDisk: 1, empty: false}",
                    "{name: 'config', sizeOnDisk: 2, empty: false}",
                    "{name: 'it', sizeOnDisk: 1000000, empty: false}",
                    "{name: 'local', sizeOnDisk: 4, empty: false}"),
                list(
                    "{name: 'config', sizeOnDisk: 8, empty: false}",
                    "{name: 'it', sizeOnDisk: 2000000, empty: true}")),
            list(
                "{name: 'admin', sizeOnDisk: 16, empty: false}",
                "{name: 'config', sizeOnDisk: 32, empty: false}",
                "{name: 'left', sizeOnDisk: 64, empty: false}",
                "{name: 'local', sizeOnDisk: 128, empty: false}"));

    assertThat(joined)
        .isEqualTo(
            BsonDocument.parse(
                "{databases: ["
                    + "{name: 'admin', sizeOnDisk: 16, empty: false},"
                    + "{name: 'config', sizeOnDisk: {$numberLong: '42'}, empty: false},"
                    + "{name: 'it', sizeOnDisk: {$numberLong: '3000000'}, empty: false}],"
                    + "totalSize: {$numberLong: '3000058'}, totalSizeMb: {$numberLong: '2'},"
                    + "ok: 1.0}"));
  }

  @Test
  void listOfNamesHasNoSizes() {
    assertThat(Listings.joined(List.of(list("{name: 'b'}"), list("{name: 'a'}")), list()))
        .isEqualTo(BsonDocument.parse("{databases: [{name: 'a'}, {name: 'b'}], ok: 1.0}"));
  }

  @Test
  void returnsErrorOfShard() {
    BsonDocument refused = BsonDocument.parse("{ok: 0.0, code: 13, errmsg: 'not authorized'}");

    assertThat(Listings.joined(List.of(list("{name: 'a'}"), refused), list())).isEqualTo(refused);
  }

  private static BsonDocument list(String... databases) {
    return BsonDocument.parse("{databases: [" + String.join(",", databases) + "], ok: 1.0}");
  }
}
