package dev.onehop.routing;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import dev.onehop.shards.ClusterServers;
import dev.onehop.wire.ScriptedPeer;
import org.junit.jupiter.api.Test;

class ClusterServersTest {

  /** Nothing would close a watch that starts after the close. */
  @Test
  void rejectsNewMonitorAfterClose() {
    try (ScriptedPeer server = ScriptedPeer.withHello((request, context) -> {})) {
      ConnectionString url = new ConnectionString(server.url());
      ClusterServers servers =
          ClusterServers.connect(
              MongoClientSettings.builder().applyConnectionString(url).build(), null, 1);
      servers.close();
      assertThatThrownBy(() -> servers.replicaSet("rs/" + url.getHosts().get(0)))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
  }
}
