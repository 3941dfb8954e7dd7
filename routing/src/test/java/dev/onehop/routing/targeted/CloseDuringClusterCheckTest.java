package dev.onehop.routing.targeted;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.mongodb.client.model.Filters;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.CapturedLog;
import java.time.Duration;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/** Clients that are closed while they read the cluster id of a mongos. */
class CloseDuringClusterCheckTest {
  @RegisterExtension
  private final CapturedLog operations = new CapturedLog("org.mongodb.driver.operation");

  private final ScriptedCluster cluster = new ScriptedCluster(Targeted.WIRE_6_0);

  @AfterEach
  void close() {
    cluster.close();
  }

  @Test
  void driverLogsNoError() {
    cluster.hold("m1", CloseDuringClusterCheckTest::readsClusterId);
    for (int i = 1; i <= 3; i++) {
      int expected = i;
      try (MongoClient client = Targeted.builder(cluster, "").client(MongoClient.class)) {
        Mono.from(client.getDatabase("it").getCollection("c").find(Filters.eq(5)).first())
            .onErrorComplete()
            .subscribe();
        await()
            .until(
                () ->
                    cluster.seen("m1", "find").stream()
                            .filter(CloseDuringClusterCheckTest::readsClusterId)
                            .count()
                        == expected);
      }
      cluster.cut(command -> true);
    }
    await()
        .during(Duration.ofMillis(500))
        .untilAsserted(() -> assertThat(operations.messages()).isEmpty());
  }

  private static boolean readsClusterId(BsonDocument command) {
    return new BsonString("version").equals(command.get("find"));
  }
}
