package dev.onehop.wire.watch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerConnectionState;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.bson.BsonDocument;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Parses zones, and chooses servers by zones. */
class PreferredZonesTest {
  private static final long NEW = 0;
  private static final long OLD = Duration.ofSeconds(3).toNanos();

  private final PreferredZones zones =
      PreferredZones.parse("a=a1|a2, b=*.b.example.com|[::1]:5, c1");

  @ParameterizedTest
  @CsvSource({
    "a1:27017, 0",
    "A2:1, 0",
    "a3:1, 3",
    "x.b.example.com:9, 1",
    "xb.example.com:9, 3",
    "'[::1]:5', 1",
    "'[::1]:6', 3",
    "c1:1, 2"
  })
  void ranksServerByZone(String server, int rank) {
    assertThat(zones.rank(new ServerAddress(server))).isEqualTo(rank);
  }

  @Test
  void zonesHaveNames() {
    assertThat(zones.name(0)).isEqualTo("zone a");
    assertThat(zones.name(2)).isEqualTo("zone c1");
    assertThat(zones.name(3)).isEqualTo("no preferred zone");
    assertThat(PreferredZones.NONE.isEmpty()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiterString = " -> ",
      quoteCharacter = '"',
      value = {
        "\"\" -> '' is neither a host nor host:port",
        "a= -> '' is neither a host nor host:port",
        "h1, -> '' is neither a host nor host:port",
        "h1||h2 -> '' is neither a host nor host:port",
        "=h1 -> '' is not a valid zone name",
        "a b=h1 -> 'a b' is not a valid zone name",
        "h1;h2 -> 'h1;h2' is neither a host nor host:port",
        "h1:99999 -> not a server address: host:99999",
        "h1:x -> not a server address: host:x",
        "h1|H1 -> host h1 is given twice",
        "a=h1,b=h1 -> host h1 is given twice",
        "a=h1,a=h2 -> zone a is given twice"
      })
  void rejectsInvalidZonesWithReason(String text, String why) {
    assertThatThrownBy(() -> PreferredZones.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(why);
  }

  @Test
  void choosesFirstAvailableZone() {
    ServerDescription near = up("c1");
    ServerDescription other = up("z");
    assertThat(zones.first(List.of(other, near, up("a1"), up("a2"))))
        .extracting(each -> each.getAddress().getHost())
        .containsExactly("a1", "a2");
    assertThat(zones.first(List.of(other, near))).containsExactly(near);
    assertThat(zones.first(List.of(other))).containsExactly(other);
    assertThat(zones.first(List.of())).isEmpty();
    assertThat(PreferredZones.NONE.first(List.of(other, near))).containsExactly(other, near);
  }

  @Test
  void newClientWaitsForServersOfBetterZone() {
    ServerDescription known = up("c1");
    ServerDescription silent = unknown("a1", null);
    assertThat(zones.first(List.of(known), cluster(silent, known), NEW)).isEmpty();
    assertThat(zones.first(List.of(known), cluster(silent, known), OLD)).containsExactly(known);
    ServerDescription failed = unknown("a1", new IOException("refused"));
    assertThat(zones.first(List.of(known), cluster(failed, known), NEW)).containsExactly(known);
    ServerDescription worse = unknown("z", null);
    assertThat(zones.first(List.of(known), cluster(worse, known), NEW)).containsExactly(known);
  }

  @ParameterizedTest
  @CsvSource({
    "nearest, true",
    "secondary, true",
    "secondaryPreferred, true",
    "primaryPreferred, false",
    "primary, false"
  })
  void readPreferenceMayAllowAnyMember(String mode, boolean any) {
    assertThat(PreferredZones.isOfAnyMember(BsonDocument.parse("{mode: '" + mode + "'}")))
        .isEqualTo(any);
    assertThat(PreferredZones.isOfAnyMember(null)).isFalse();
  }

  private static ClusterDescription cluster(ServerDescription... servers) {
    return new ClusterDescription(
        ClusterConnectionMode.MULTIPLE, ClusterType.SHARDED, List.of(servers));
  }

  private static ServerDescription up(String host) {
    return ServerDescription.builder()
        .address(new ServerAddress(host, 27017))
        .type(ServerType.SHARD_ROUTER)
        .state(ServerConnectionState.CONNECTED)
        .ok(true)
        .build();
  }

  private static ServerDescription unknown(String host, Throwable failure) {
    return ServerDescription.builder()
        .address(new ServerAddress(host, 27017))
        .type(ServerType.UNKNOWN)
        .state(ServerConnectionState.CONNECTING)
        .exception(failure)
        .build();
  }
}
