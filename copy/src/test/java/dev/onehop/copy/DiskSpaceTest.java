package dev.onehop.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.internal.structure.CollectionSpec;
import dev.onehop.copy.internal.structure.CollectionSpec.Kind;
import java.util.List;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whether the copied collections fit on the destination's disks. */
class DiskSpaceTest {
  private static final String EMPTY = "{ok: 1, fsTotalSize: 0, fsUsedSize: 0}";

  private final ScriptedReplicaSet from = new ScriptedReplicaSet();
  private final ScriptedReplicaSet to = new ScriptedReplicaSet();

  @AfterEach
  void close() {
    from.close();
    to.close();
  }

  /** The missing space for a collection that takes 10 MB on the source's disk, with its indexes. */
  private DiskSpace.@Nullable Shortage shortage(boolean sharded) throws InterruptedException {
    from.script(
        command ->
            command.getFirstKey().equals("aggregate")
                ? ScriptedReplicaSet.cursor("{count: 1, size: 90000000, stored: 10000000}")
                : null);
    CollectionSpec.Sharding key =
        sharded
            ? new CollectionSpec.Sharding(BsonDocument.parse("{_id: 1}"), false, List.of())
            : null;
    CollectionSpec spec =
        new CollectionSpec("d.c", "d.c", Kind.COLLECTION, null, new BsonDocument(), List.of(), key);
    try (ClusterEnd source = from.connect("source");
        ClusterEnd destination = to.connect("destination")) {
      return new DiskSpace(source, destination).shortage(List.of(spec));
    }
  }

  private void reportSpace(String config, String other) {
    to.script(
        command ->
            command.getFirstKey().equals("dbStats")
                ? BsonDocument.parse(
                    command.getString("$db").getValue().equals("config") ? config : other)
                : null);
  }

  @Test
  void reportsNoShortageIfCopyFits() throws InterruptedException {
    reportSpace("{ok: 1, fsTotalSize: 50000000, fsUsedSize: 39000000}", EMPTY);
    assertThat(shortage(false)).isNull();
  }

  @Test
  void reportsShortageInNumbers() throws InterruptedException {
    reportSpace("{ok: 1, fsTotalSize: 50000000, fsUsedSize: 39000001}", EMPTY);
    assertThat(shortage(false))
        .isEqualTo(
            new DiskSpace.Shortage(
                "the destination has too little disk space: documents and indexes need about 11 MB,"
                    + " and 11 MB are free",
                true));
  }

  /**
   * A server does not report its disk space for a database that does not exist or that the user may
   * not read. The space is then read from another database.
   */
  @Test
  void readsSpaceFromAnotherDatabase() throws InterruptedException {
    reportSpace(EMPTY, "{ok: 1, fsTotalSize: 50000000, fsUsedSize: 49000000}");
    assertThat(shortage(false)).extracting(DiskSpace.Shortage::known).isEqualTo(true);
    reportSpace(
        "{ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'not authorized on config'}",
        "{ok: 1, fsTotalSize: 50000000, fsUsedSize: 9000000}");
    assertThat(shortage(false)).isNull();
  }

  @Test
  void reportsUnknownSpaceAsUncertain() throws InterruptedException {
    reportSpace(EMPTY, EMPTY);
    assertThat(shortage(false))
        .isEqualTo(
            new DiskSpace.Shortage(
                "the destination does not report how much disk space is free", false));
  }

  /** Both shards together have enough space, but one shard has too little for its half. */
  @Test
  void eachShardNeedsSpaceForItsPart() throws InterruptedException {
    to.asMongos();
    reportSpace(
        "{ok: 1, raw: {'one/h1:1,h2:1': {fsTotalSize: 90000000, fsUsedSize: 60000000},"
            + " 'two/h3:1': {fsTotalSize: 9000000, fsUsedSize: 5000000}}}",
        EMPTY);
    assertThat(shortage(false)).isNull();
    assertThat(shortage(true))
        .extracting(DiskSpace.Shortage::text)
        .asString()
        .startsWith(
            "the destination's shard two has too little disk space: documents and indexes need"
                + " about 6 MB");
  }
}
