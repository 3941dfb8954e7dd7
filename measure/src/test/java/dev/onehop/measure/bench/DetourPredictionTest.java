package dev.onehop.measure.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onehop.measure.results.Detour;
import dev.onehop.measure.results.SampleResults;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.measure.results.TopologyFacts.HostFacts;
import dev.onehop.measure.results.TopologyFacts.RoundTrips;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DetourPredictionTest {

  @Test
  void aRouterOnTheClientsHostMeansNoDetour() {
    assertThat(
            DetourPrediction.of(
                SampleResults.topology(), Map.of("or1", "or1"), SampleResults.us2014().points()))
        .isNull();
  }

  @Test
  void theDetourIsTheWayThroughTheNearestRouterLessTheStraightOne() {
    TopologyFacts topology =
        new TopologyFacts(
            "t",
            "app",
            List.of("x", "y"),
            new RoundTrips(Map.of("app-a", 10.0, "app-b", 60.0, "a-b", 62.0), Map.of()),
            List.of(
                new HostFacts("app", "x", List.of("client")),
                new HostFacts("a", "x", List.of("router", "shard s1")),
                new HostFacts("b", "y", List.of("router", "shard s2"))));
    Detour detour =
        DetourPrediction.of(
            topology,
            Map.of("s1", "a", "s2", "b"),
            List.of(
                SampleResults.point("async", 1, 5), SampleResults.point("targeted-async", 1, 5)));
    assertThat(detour).isNotNull();
    // a is nearest and stands beside s1; s2 by way of a: 10 + 62 - 60.
    assertThat(detour.perShardMillis()).containsEntry("s1", 0.0).containsEntry("s2", 12.0);
    assertThat(detour.measuredMillis()).isNotNull();
    assertThat(detour.threads()).isEqualTo(1);
  }

  @Test
  void routersWithinTheDriversWindowShareTheOperations() {
    TopologyFacts topology =
        new TopologyFacts(
            "t",
            "app",
            List.of("x", "y"),
            new RoundTrips(Map.of("app-a", 10.0, "app-b", 20.0, "a-b", 30.0), Map.of()),
            List.of(
                new HostFacts("app", "x", List.of("client")),
                new HostFacts("a", "x", List.of("router", "shard s1")),
                new HostFacts("b", "y", List.of("router"))));
    Detour detour = DetourPrediction.of(topology, Map.of("s1", "a"), List.of());
    // By a no detour, by b 20 + 30 - 10: half of the operations each.
    assertThat(detour).isNotNull();
    assertThat(detour.predictedMillis()).isEqualTo(20.0);
    assertThat(detour.measuredMillis()).isNull();
  }
}
