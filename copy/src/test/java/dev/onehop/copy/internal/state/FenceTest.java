package dev.onehop.copy.internal.state;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.ScriptedReplicaSet;
import dev.onehop.copy.progress.CopyException;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Which writes a server accepts, by their transaction numbers. */
class FenceTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  @AutoClose private final ScriptedReplicaSet server = new ScriptedReplicaSet();
  @AutoClose private final ClusterEnd destination = server.connect("destination");

  private Fence fence(String name) {
    return new Fence(destination.client(), destination.database("s"), name, Mono.empty());
  }

  private Fence.Lane lane(long term) {
    return fence("j").raise(0, term).block(TIMEOUT);
  }

  private static BsonDocument insert(int id) {
    return BsonDocument.parse("{insert: 'c', documents: [{_id: %d}]}".formatted(id));
  }

  @Test
  void laterTermFencesEarlierOwners() {
    Fence.Lane old = lane(1);
    old.write("d", insert(1)).block(TIMEOUT);
    Fence.Lane now = lane(2);

    assertThatThrownBy(() -> old.write("d", insert(2)).block(TIMEOUT))
        .isInstanceOf(CopyException.class)
        .hasMessageContaining("another process has taken the job over");
    assertThatThrownBy(() -> old.raise().block(TIMEOUT)).isInstanceOf(CopyException.class);
    assertThatThrownBy(() -> lane(1)).isInstanceOf(CopyException.class);
    now.write("d", insert(3)).block(TIMEOUT);
    assertThat(server.stored("d.c"))
        .containsExactly(BsonDocument.parse("{_id: 1}"), BsonDocument.parse("{_id: 3}"));
    old.close();
    now.close();
  }

  @Test
  void closedFenceRejectsAllWrites() {
    Fence.Lane lane = lane(1);
    fence("j").close(1).block(TIMEOUT);
    assertThatThrownBy(() -> lane.write("d", insert(1)).block(TIMEOUT))
        .isInstanceOf(CopyException.class);
    assertThatThrownBy(() -> lane(2)).isInstanceOf(CopyException.class);
    assertThat(server.stored("d.c")).isEmpty();
  }

  /** An earlier process has closed the fence in two attempts, because a document had moved. */
  @Test
  void closesFenceAgain() {
    Fence.Lane closed = lane((1L << 23) - 1);
    closed.raise().block(TIMEOUT);
    fence("j").close(1).block(TIMEOUT);
    closed.close();
  }

  /**
   * A later version of the program must use the same session ids as an earlier version. Otherwise
   * it can't make late writes of the earlier version fail.
   */
  @Test
  void sessionIdDependsOnlyOnJobAndLane() {
    lane(1).close();
    lane(2).close();
    fence("j").raise(1, 1).block(TIMEOUT).close();
    fence("other").raise(0, 1).block(TIMEOUT).close();

    assertThat(server.seen("update"))
        .extracting(sent -> Base64.getEncoder().encodeToString(id(sent)))
        .containsExactly(
            "uRGYAVuZMSG96HoV4jiaaA==",
            "uRGYAVuZMSG96HoV4jiaaA==",
            "eOFPRVnVNhWNZ69IBQuOCQ==",
            "DNABGVt9MTyOCYjd4mGNdA==");
    assertThat(server.seen("update"))
        .extracting(sent -> sent.getInt64("txnNumber").getValue())
        .containsExactly((1L << 40) + 1, (2L << 40) + 1, (1L << 40) + 1, (1L << 40) + 1);
  }

  private static byte[] id(BsonDocument sent) {
    return sent.getDocument("lsid").getBinary("id").getData();
  }

  /** A write whose reply was lost does not take effect twice. */
  @Test
  void retriesWriteWithSameTransactionNumber() {
    Fence.Lane lane = lane(1);
    AtomicInteger sent = new AtomicInteger();
    server.script(
        command ->
            command.getFirstKey().equals("insert")
                ? switch (sent.incrementAndGet()) {
                  case 1 -> ScriptedReplicaSet.HANG_UP;
                  case 2 ->
                      BsonDocument.parse(
                          "{ok: 1, n: 0, writeErrors: [{index: 0, code: 189, errmsg: 'steps down'}]}");
                  case 3 ->
                      BsonDocument.parse(
                          "{ok: 1, n: 1, writeConcernError: {code: 64, errmsg: 'waiting'}}");
                  default -> null;
                }
                : null);
    lane.write("d", insert(1)).block(TIMEOUT);

    assertThat(server.seen("insert")).hasSize(4);
    assertThat(server.seen("insert"))
        .extracting(each -> each.get("txnNumber"))
        .containsOnly(server.seen("insert").get(0).get("txnNumber"));
    assertThat(server.seen("insert"))
        .extracting(each -> each.getDocument("writeConcern"))
        .containsOnly(BsonDocument.parse("{w: 'majority'}"));
    lane.close();
  }

  @Test
  void returnsErrorsOfStatements() {
    Fence.Lane lane = lane(1);
    lane.write("d", insert(1)).block(TIMEOUT);
    BsonDocument reply = lane.write("d", insert(1)).block(TIMEOUT);
    assertThat(reply.getArray("writeErrors").get(0).asDocument().getInt32("code").getValue())
        .isEqualTo(11000);
    lane.close();
  }
}
