package dev.onehop.cli.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.onehop.cli.results.SampleResults;
import java.util.List;
import org.junit.jupiter.api.Test;

class MapLayoutTest {

  @Test
  void distancesOfATriangleAreKept() {
    double[][] d = {{0, 68, 62}, {68, 0, 22}, {62, 22, 0}};
    double[][] places = MapLayout.place(List.of(0, 1, 2), (a, b) -> d[a][b]);
    for (int i = 0; i < 3; i++) {
      for (int j = 0; j < 3; j++) {
        double dx = places[i][0] - places[j][0];
        double dy = places[i][1] - places[j][1];
        assertThat(Math.hypot(dx, dy)).isCloseTo(d[i][j], within(0.01));
      }
    }
    assertThat(places[0][0]).isNegative();
  }

  @Test
  void oneItemAndItemsAtTheSamePlaceAreNoTrouble() {
    assertThat(MapLayout.place(List.of("a"), (a, b) -> 0)[0]).containsExactly(0, 0);
    for (double[] place : MapLayout.place(List.of("a", "b", "c"), (a, b) -> 0)) {
      assertThat(place).containsExactly(0, 0);
    }
  }

  @Test
  void theMapNamesEveryRegionHostAndRoundTrip() {
    for (boolean wide : new boolean[] {true, false}) {
      assertThat(TopologyMap.toSvg(SampleResults.topology(), wide))
          .contains("va1: client, config, router", "or1: router, shard or1")
          .contains(">68.0 ms<", ">62.0 ms<", ">22.0 ms<")
          .doesNotContain("NaN");
    }
  }
}
