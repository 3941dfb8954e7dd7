package dev.onehop.measure.results;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RouterCostTest {
  // In this sample, official clients cost their router 290 us per operation; targeted mode costs
  // the routers 300.4 us.
  private final List<Point> points = SampleResults.us2014().points();

  @Test
  void factorUsesModesThroughOneRouter() {
    RouterCost cost = RouterCost.of(points);

    assertThat(cost.microsPerOperation()).isEqualTo(290);
    assertThat(cost.factor()).isEqualTo(1.1);
    assertThat(cost.sentence())
        .contains(
            "In this run, the stand-in router took 290 us, so a mongos takes 1.1 times as"
                + " long");
  }

  @Test
  void costIsUnknownWithOnlyTargetedModes() {
    RouterCost cost =
        RouterCost.of(
            points.stream().filter(point -> point.client().mode().startsWith("targeted")).toList());

    assertThat(cost.microsPerOperation()).isNull();
    assertThat(cost.factor()).isNull();
    assertThat(cost.sentence()).contains("was not measured");
  }
}
