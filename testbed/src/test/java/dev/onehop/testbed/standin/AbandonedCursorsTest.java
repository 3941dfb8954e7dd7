package dev.onehop.testbed.standin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.onehop.shards.command.ScriptedCluster;
import java.util.concurrent.CountDownLatch;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;

/** Cursors on shards that no client will ever read. The router must close them. */
class AbandonedCursorsTest {
  private static final int WIRE_6_0 = 17;
  private static final String FIND = "{find: 'c', sort: {a: 1}, $db: 'it'}";
  private static final String OPENED =
      "{ok: 1, cursor: {firstBatch: [], id: {$numberLong: '7'}, ns: 'it.c'}}";
  private static final String FAILED = "{ok: 0, code: 987654, errmsg: 'no'}";

  private final ScriptedCluster cluster =
      new ScriptedCluster(WIRE_6_0).routedBy(cluster -> new MongosRouter(cluster, false));
  private final CountDownLatch release = new CountDownLatch(1);

  @AfterEach
  void close() {
    release.countDown();
    cluster.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"find", "getMore"})
  void areClosedWhenShardFails(String at) {
    cluster.script("s0", AbandonedCursorsTest::opened);
    cluster.script(
        "s1", got -> got.getFirstKey().equals(at) ? BsonDocument.parse(FAILED) : opened(got));

    assertThat(cluster.execute(FIND)).containsEntry("code", new BsonInt32(987654));

    await().untilAsserted(() -> assertThat(cluster.seen("s0", "killCursors")).hasSize(1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"find", "getMore"})
  void areClosedWhenClientCancels(String at) throws InterruptedException {
    CountDownLatch reached = new CountDownLatch(1);
    cluster.script("s0", AbandonedCursorsTest::opened);
    cluster.script(
        "s1",
        got -> {
          if (got.getFirstKey().equals(at)) {
            reached.countDown();
            awaitRelease();
          }
          return opened(got);
        });

    Disposable find = cluster.executing(FIND).subscribe();
    reached.await();
    // s0 replies to this count last. So when the count ends, the router has read the earlier
    // replies of s0.
    cluster.execute("{count: 'c', query: {_id: -5}, $db: 'it'}");
    find.dispose();

    await().untilAsserted(() -> assertThat(cluster.seen("s0", "killCursors")).hasSize(1));
  }

  private void awaitRelease() {
    try {
      release.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** A shard's reply to {@code find} or {@code getMore}. The cursor has more documents. */
  private static BsonDocument opened(BsonDocument command) {
    return switch (command.getFirstKey()) {
      case "find" -> BsonDocument.parse(OPENED);
      case "getMore" ->
          BsonDocument.parse(OPENED.replace("firstBatch: []", "nextBatch: [{$sortKey: [1]}]"));
      default -> null;
    };
  }
}
