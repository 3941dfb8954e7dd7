package dev.onehop.routing.internal.affinity;

import static org.assertj.core.api.Assertions.assertThat;

import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerConnectionState;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import dev.onehop.routing.spi.wire.ServerAddressName;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.bson.types.ObjectId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class BesideSelectorTest {
  private static final ServerAddress BESIDE = new ServerAddress("or1", 27017);
  private static final ServerAddress OTHER = new ServerAddress("va1", 27017);

  private static final ServerAddress FOREIGN = new ServerAddress("xx1", 27017);
  private static final ClusterPin PIN = pin();

  private final BesideSelector selector = new BesideSelector(Set.of(BESIDE), null, PIN);

  @Test
  void mongosBesideTheShardIsPreferred() {
    assertThat(select(up(OTHER), up(BESIDE))).containsExactly(BESIDE);
  }

  @Test
  void othersTakeOverWhenItIsDown() {
    assertThat(select(up(OTHER), connecting(BESIDE, new IOException("refused"))))
        .containsExactly(OTHER);
  }

  @Test
  void newClientWaitsForTheFirstAnswerFromFarAway() {
    assertThat(select(up(OTHER), connecting(BESIDE, null))).isEmpty();
    assertThat(select(up(OTHER))).as("not even listed yet").isEmpty();
  }

  @Test
  void applicationsOwnSelectorComesFirst() {
    BesideSelector restricted =
        new BesideSelector(
            Set.of(BESIDE),
            cluster ->
                cluster.getServerDescriptions().stream()
                    .filter(server -> server.getAddress().equals(OTHER))
                    .toList(),
            PIN);

    assertThat(restricted.select(cluster(up(OTHER), up(BESIDE))))
        .extracting(ServerDescription::getAddress)
        .containsExactly(OTHER);
  }

  @Test
  void mongosOfAnotherClusterIsNeverSelected() {
    BesideSelector misled = new BesideSelector(Set.of(FOREIGN), null, PIN);

    assertThat(misled.select(cluster(up(FOREIGN), up(OTHER))))
        .extracting(ServerDescription::getAddress)
        .containsExactly(OTHER);
    assertThat(misled.isFallingBack()).isTrue();
  }

  @Test
  void tellsWhetherItFallsBack() {
    assertThat(select(up(OTHER), up(BESIDE))).isNotEmpty();
    assertThat(selector.isFallingBack()).isFalse();

    assertThat(select(up(OTHER), connecting(BESIDE, new IOException("refused")))).isNotEmpty();
    assertThat(selector.isFallingBack()).isTrue();
  }

  private static ClusterPin pin() {
    ClusterPin pin =
        new ClusterPin(
            router ->
                Mono.just(
                    new RouterProbe.Identity(
                        new ObjectId(router.host().equals(FOREIGN.getHost()) ? 2 : 1, 0), null)),
            List.of(OTHER));
    pin.check(
            List.of(
                new ServerAddressName(OTHER.getHost(), OTHER.getPort()),
                new ServerAddressName(BESIDE.getHost(), BESIDE.getPort()),
                new ServerAddressName(FOREIGN.getHost(), FOREIGN.getPort())))
        .block();
    return pin;
  }

  private List<ServerAddress> select(ServerDescription... servers) {
    return selector.select(cluster(servers)).stream().map(ServerDescription::getAddress).toList();
  }

  private static ClusterDescription cluster(ServerDescription... servers) {
    return new ClusterDescription(
        ClusterConnectionMode.MULTIPLE, ClusterType.SHARDED, List.of(servers));
  }

  private static ServerDescription up(ServerAddress address) {
    return ServerDescription.builder()
        .address(address)
        .type(ServerType.SHARD_ROUTER)
        .state(ServerConnectionState.CONNECTED)
        .ok(true)
        .build();
  }

  private static ServerDescription connecting(
      ServerAddress address, @Nullable Throwable exception) {
    return ServerDescription.builder()
        .address(address)
        .state(ServerConnectionState.CONNECTING)
        .exception(exception)
        .build();
  }
}
