package dev.onehop.testbed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onehop.testbed.topology.Host;
import dev.onehop.testbed.topology.Shard;
import dev.onehop.testbed.topology.Topology;
import dev.onehop.testbed.topology.TopologyException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TopologyTest {

  @ParameterizedTest
  @ValueSource(
      strings = {"us-2014", "atlas-3-region", "two-near-mongos", "three-zones", "single-host"})
  void shippedTopologiesCanBeRead(String name) {
    Topology topology = Topology.named(name);
    assertThat(topology.name()).isEqualTo(name);
    assertThat(topology.shards()).hasSize(3);
    assertThat(topology.description()).isNotEmpty();
    assertThat(Topology.parse("again.yaml", topology.toYaml()).hosts()).isEqualTo(topology.hosts());
  }

  @Test
  void shippedTopologiesShareNoAddress() {
    Set<String> addresses = new HashSet<>();
    for (String name : Topology.SHIPPED) {
      Topology.named(name).hosts().forEach(h -> assertThat(addresses.add(h.address())).isTrue());
    }
  }

  @Test
  void us2014HasRoundTripsOfExperiment() {
    Topology topology = Topology.named("us-2014");
    Host va1 = topology.host("va1");
    assertThat(topology.client()).isEqualTo(va1);
    assertThat(topology.roundTrip(va1, va1)).isZero();
    assertThat(topology.roundTrip(va1, topology.host("va2"))).isEqualTo(Duration.ofNanos(600_000));
    assertThat(topology.roundTrip(va1, topology.host("or1"))).isEqualTo(Duration.ofMillis(68));
    assertThat(topology.roundTrip(topology.host("or1"), va1)).isEqualTo(Duration.ofMillis(68));
    assertThat(topology.roundTrip(topology.host("or1"), topology.host("ca1")))
        .isEqualTo(Duration.ofMillis(22));
    assertThat(topology.mongosHosts()).extracting(Host::name).contains("va1", "va2", "or1", "ca1");
  }

  @Test
  void roundTripCanDifferByDirection() {
    Topology topology =
        Topology.parse(
            "t.yaml",
            """
            name: t
            regions: [a, b]
            roundTrips:
              a -> b: 10
              b -> a: 20.5
            hosts:
              a1: {region: a, address: 127.1.1.1}
              b1: {region: b, address: 127.1.1.2}
            client: a1
            configServers: [a1]
            shards: {s1: [b1]}
            mongos: [a1]
            """);
    Host a = topology.host("a1");
    Host b = topology.host("b1");
    assertThat(topology.roundTrip(a, b)).isEqualTo(Duration.ofMillis(10));
    assertThat(topology.roundTrip(b, a)).isEqualTo(Duration.ofNanos(20_500_000));
  }

  @Test
  void shardsOnOneHostHaveDifferentPorts() {
    assertThat(Topology.named("single-host").shards())
        .extracting(Shard::port)
        .containsExactly(27018, 27020, 27021);
    assertThat(Topology.named("us-2014").shards())
        .extracting(Shard::port)
        .containsExactly(27018, 27018, 27018);
  }

  @Test
  void urlNamesMongosOnClientHost() {
    assertThat(url("us-2014")).isEqualTo("mongodb://127.27.1.1:27017");
    assertThat(url("single-host")).isEqualTo("mongodb://127.30.0.1:27017");
  }

  @Test
  void urlNamesMongosWithinLatencyWindow() {
    assertThat(url("atlas-3-region")).isEqualTo("mongodb://127.28.1.1:27017");
    assertThat(url("two-near-mongos")).isEqualTo("mongodb://127.29.2.1:27017,127.29.3.1:27017");
  }

  private static String url(String name) {
    Topology topology = Topology.named(name);
    return Testbed.url(topology, ClusterPlan.of(topology, true, false));
  }

  @Test
  void linksAreUsedOnlyWithDelays() {
    Topology far = Topology.named("us-2014");
    assertThat(ClusterPlan.of(far, true, false).all()).allMatch(server -> server.isBehindLink());
    Topology near = Topology.named("single-host");
    assertThat(ClusterPlan.of(near, true, false).all()).noneMatch(server -> server.isBehindLink());
  }

  @Test
  void realMongosKeepsPortBehindLink() {
    ClusterPlan plan = ClusterPlan.of(Topology.named("us-2014"), true, true);
    assertThat(plan.routers())
        .allSatisfy(
            router -> {
              assertThat(router.isBehindLink()).isTrue();
              assertThat(router.listenAddress().getPort()).isEqualTo(27017);
            });
  }

  @Test
  void resolvesNamesAndFiles(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("mine.yaml");
    Files.writeString(file, Topology.named("single-host").toYaml().replace("single-host", "mine"));
    assertThat(Topology.resolve(file.toString()).name()).isEqualTo("mine");
    assertThat(Topology.resolve("us-2014").name()).isEqualTo("us-2014");
    assertThatThrownBy(() -> Topology.resolve("nowhere"))
        .isInstanceOf(TopologyException.class)
        .hasMessageContaining("no topology 'nowhere'")
        .hasMessageContaining("us-2014");
    assertThatThrownBy(() -> Topology.resolve("nowhere.yaml"))
        .isInstanceOf(TopologyException.class)
        .hasMessage("cannot read topology file nowhere.yaml: no such file");
  }
}
