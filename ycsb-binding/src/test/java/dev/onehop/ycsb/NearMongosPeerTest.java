package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerConnectionState;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class NearMongosPeerTest {

  private static ServerDescription mongos(String host, int millis, boolean ok) {
    return ServerDescription.builder()
        .address(new ServerAddress(host))
        .state(ok ? ServerConnectionState.CONNECTED : ServerConnectionState.CONNECTING)
        .type(ok ? ServerType.SHARD_ROUTER : ServerType.UNKNOWN)
        .ok(ok)
        .roundTripTime(millis, TimeUnit.MILLISECONDS)
        .build();
  }

  private static List<ServerDescription> select(ServerDescription... servers) {
    return NearMongosPeer.NEAREST.select(
        new ClusterDescription(
            ClusterConnectionMode.MULTIPLE, ClusterType.SHARDED, List.of(servers)));
  }

  @Test
  void selectsNearestReachableMongos() {
    ServerDescription near = mongos("near", 4, true);

    assertThat(select(mongos("far", 60, true), near, mongos("nearer", 1, false)))
        .containsExactly(near);
    assertThat(select(mongos("lost", 1, false))).isEmpty();
  }
}
