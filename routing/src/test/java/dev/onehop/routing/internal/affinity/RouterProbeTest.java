package dev.onehop.routing.internal.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.shards.command.ScriptedCluster;
import dev.onehop.wire.channel.EventLoops;
import dev.onehop.wire.connection.WireSettings;
import io.netty.channel.EventLoopGroup;
import java.time.Duration;
import java.util.Map;
import org.bson.BsonDocument;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RouterProbeTest {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final int WIRE_6_0 = 17;

  private final EventLoopGroup group = EventLoops.newGroup("probe", 1);

  @AfterEach
  void shutDown() {
    EventLoops.shutDown(group);
  }

  /**
   * When a mongos ends a session, it may wait for a silent shard. The probe must not wait for this.
   */
  @Test
  void doesNotWaitForEndOfSession() {
    try (ScriptedCluster cluster = new ScriptedCluster(WIRE_6_0);
        RouterProbe probe =
            new RouterProbe(group, WireSettings.plain(null, new BsonDocument(), Map.of()))) {
      cluster.hold("m0", command -> command.getFirstKey().equals("endSessions"));

      assertThat(probe.identify(cluster.address("m0")).block(TIMEOUT)).isNotNull();
      cluster.release();
    }
  }
}
