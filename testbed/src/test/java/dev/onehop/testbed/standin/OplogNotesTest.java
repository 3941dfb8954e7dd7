package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import java.util.List;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** As a mongos does, the router writes a note to the oplog of each shard. */
class OplogNotesTest {
  private static final String NOTE = "{appendOplogNote: 1, data: {n: 1}, $db: 'admin'}";

  @AutoClose
  private final ScriptedCluster cluster =
      new ScriptedCluster(17).routedBy(state -> new MongosRouter(state, false));

  @Test
  void eachShardGetsNote() {
    assertThat(cluster.execute(NOTE).getNumber("ok").intValue()).isEqualTo(1);
    for (String shard : List.of("s0", "s1")) {
      assertThat(cluster.seen(shard, "appendOplogNote"))
          .singleElement()
          .extracting(note -> note.get("data"))
          .isEqualTo(BsonDocument.parse("{n: 1}"));
    }
  }

  @Test
  void returnsErrorOfShard() {
    BsonDocument refused = BsonDocument.parse("{ok: 0.0, code: 13, errmsg: 'not authorized'}");
    cluster.script("s1", note -> note.containsKey("appendOplogNote") ? refused : null);
    assertThat(cluster.execute(NOTE)).isEqualTo(refused);
  }
}
