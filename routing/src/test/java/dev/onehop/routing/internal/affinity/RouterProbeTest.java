package dev.onehop.routing.internal.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.MongoClientSettings;
import dev.onehop.shards.command.ScriptedCluster;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class RouterProbeTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  /** A mongos may wait for its shards to end a session, of which one is silent. */
  @Test
  void theAnswerDoesNotWaitForTheEndOfTheSession() {
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);
        RouterProbe probe = new RouterProbe(MongoClientSettings.builder().build())) {
      cluster.hold("m0", command -> command.getFirstKey().equals("endSessions"));

      assertThat(probe.identify(cluster.address("m0")).block(TIMEOUT)).isNotNull();
      cluster.release();
    }
  }
}
