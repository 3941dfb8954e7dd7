package dev.onehop.routing.internal.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.routing.internal.wire.ServerAddressName;
import java.util.List;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.junit.jupiter.api.Test;

class AffinityTest {
  private static final long NOW = 1_700_000_000_000L;

  @Test
  void mongosOnAHostOfTheShardStandsBesideIt() {
    Affinity affinity =
        Affinity.byHost(
            List.of(shard("s0", "s0/or1:27018,or2:27018"), shard("s1", "s1/ca1:27018")),
            List.of(mongos("va1:27017", 0), mongos("or1:27017", 0), mongos("OR2:27017", 5)));

    assertThat(affinity.besideShard("s0")).containsExactly(name("or1:27017"), name("or2:27017"));
    assertThat(affinity.besideShard("s1")).isEmpty();
    assertThat(affinity.besideShard("s9")).isEmpty();
    assertThat(affinity.shardsWithRouter()).containsExactly("s0");
    assertThat(affinity.routers()).hasSize(3);
  }

  @Test
  void mongosThatStoppedPingingIsLeftOut() {
    Affinity affinity =
        Affinity.byHost(
            List.of(shard("s0", "s0/or1:27018")),
            List.of(mongos("or1:27017", 31), mongos("or1:27117", 30), mongos("va1:27017", 0)));

    assertThat(affinity.besideShard("s0")).containsExactly(name("or1:27117"));
  }

  @Test
  void agesAreToldByTheNewestPingNotByOurClock() {
    Affinity affinity =
        Affinity.byHost(
            List.of(shard("s0", "s0/or1:27018")),
            List.of(
                new BsonDocument("_id", new BsonString("or1:27017"))
                    .append("ping", new BsonDateTime(1))));

    assertThat(affinity.shardsWithRouter()).containsExactly("s0");
  }

  @Test
  void anEmptyClusterIsFine() {
    assertThat(Affinity.byHost(List.of(), List.of())).isEqualTo(Affinity.EMPTY);
  }

  private static BsonDocument shard(String id, String host) {
    return new BsonDocument("_id", new BsonString(id)).append("host", new BsonString(host));
  }

  private static BsonDocument mongos(String id, long secondsAgo) {
    return new BsonDocument("_id", new BsonString(id))
        .append("ping", new BsonDateTime(NOW - secondsAgo * 1000));
  }

  private static ServerAddressName name(String text) {
    return ServerAddressName.parse(text);
  }
}
