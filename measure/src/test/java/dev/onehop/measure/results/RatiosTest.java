package dev.onehop.measure.results;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import dev.onehop.measure.results.Ratio.Claim;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RatiosTest {

  @Test
  void constantRatioHasIntervalOfZeroWidth() {
    Bootstrap same =
        Bootstrap.ofPairs(
                List.of(200.0, 20.0, 2_000.0, 50.0, 4.0),
                List.of(100.0, 10.0, 1_000.0, 25.0, 2.0),
                1)
            .orElseThrow();

    assertThat(same.ratio()).isCloseTo(2, within(1e-9));
    assertThat(same.low()).isCloseTo(2, within(1e-9));
    assertThat(same.high()).isCloseTo(2, within(1e-9));
  }

  /**
   * Five pairs have only 5^5 resamples. The test computes all of them, and the bootstrap must
   * approximate their percentiles.
   */
  @Test
  void intervalApproximatesAllResamples() {
    List<Double> ours = List.of(1.0, 1.2, 1.5, 1.1, 2.0);
    List<Double> theirs = List.of(1.0, 1.0, 1.0, 1.0, 1.0);
    List<Double> all = new ArrayList<>();
    for (int code = 0; code < 3_125; code++) {
      double product = 1;
      for (int i = 0, rest = code; i < 5; i++, rest /= 5) {
        product *= ours.get(rest % 5);
      }
      all.add(Math.pow(product, 1 / 5.0));
    }
    Collections.sort(all);

    Bootstrap found = Bootstrap.ofPairs(ours, theirs, 7).orElseThrow();

    assertThat(found.ratio()).isCloseTo(Math.pow(1.2 * 1.5 * 1.1 * 2.0, 1 / 5.0), within(1e-9));
    assertThat(found.low()).isCloseTo(all.get(78), within(0.02));
    assertThat(found.high()).isCloseTo(all.get(3_046), within(0.02));
  }

  @Test
  void manyRoundsApproximateNormalDistribution() {
    Random random = new Random(3);
    List<Double> ours = new ArrayList<>();
    List<Double> theirs = new ArrayList<>();
    for (int i = 0; i < 400; i++) {
      // Both values of a pair have the same disturbance, so it has no effect on their ratio.
      double speed = 0.2 + random.nextDouble();
      ours.add(speed * Math.exp(0.1 + 0.2 * random.nextGaussian()));
      theirs.add(speed);
    }

    Bootstrap found = Bootstrap.ofPairs(ours, theirs, 7).orElseThrow();

    assertThat(Math.log(found.high() / found.low()))
        .isCloseTo(2 * 1.96 * 0.2 / Math.sqrt(400), within(0.006));
    assertThat(found.low()).isLessThan(Math.exp(0.1));
    assertThat(found.high()).isGreaterThan(Math.exp(0.1));
  }

  @Test
  void sameSeedGivesSameInterval() {
    List<Double> ours = List.of(3.0, 4.0, 5.0);
    List<Double> theirs = List.of(2.0, 2.5, 2.0);

    assertThat(Bootstrap.ofPairs(ours, theirs, 9)).isEqualTo(Bootstrap.ofPairs(ours, theirs, 9));
    assertThatThrownBy(() -> Bootstrap.ofPairs(ours, List.of(1.0), 9))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static Point point(String mode, int connections, double... rounds) {
    List<Point> measured = new ArrayList<>();
    for (double throughput : rounds) {
      measured.add(SampleResults.pointOf(mode, 64, connections, throughput));
    }
    return Point.median(measured);
  }

  @Test
  void peerIsOfficialClientWithHighestThroughput() {
    List<Ratio> ratios =
        Ratios.of(
            List.of(
                point("legacy", 5, 100, 101, 99, 100, 102),
                point("async", 100, 200, 220, 180, 210, 190),
                point("targeted-async", 5, 400, 430, 370, 420, 380),
                point("direct-async", 5, 210, 200, 190, 230, 180),
                point("straight-async", 5, 900, 900, 900, 900, 900)),
            List.of(),
            7);

    assertThat(ratios).extracting(ratio -> ratio.peer().mode()).containsOnly("async");
    assertThat(ratios)
        .extracting(ratio -> ratio.client().mode(), Ratio::claim)
        .containsExactly(
            tuple("legacy", Claim.LOWER),
            tuple("targeted-async", Claim.HIGHER),
            tuple("direct-async", Claim.NO_DIFFERENCE_SHOWN),
            tuple("straight-async", Claim.HIGHER));
  }

  @Test
  void fewerThanFiveRoundsHaveNoInterval() {
    List<Ratio> ratios =
        Ratios.of(
            List.of(point("async", 5, 100, 100, 100, 100), point("direct-async", 5, 200, 200, 200)),
            List.of(),
            7);

    assertThat(ratios).hasSize(1);
    assertThat(ratios.get(0).ratio()).isCloseTo(2, within(1e-9));
    assertThat(ratios.get(0).rounds()).isEqualTo(3);
    assertThat(ratios.get(0).low()).isNull();
    assertThat(ratios.get(0).claim()).isEqualTo(Claim.TOO_FEW_ROUNDS);
  }

  @Test
  void peerAtRateHasLowestLatency() {
    Client slow = new Client("legacy", 5, false);
    Client quick = new Client("async", 100, false);
    Client ours = new Client("targeted-async", 5, true);
    List<ScenarioEntry> entries = new ArrayList<>();
    for (Client client : List.of(slow, quick, ours)) {
      long micros = client.equals(slow) ? 90_000 : client.equals(quick) ? 60_000 : 30_000;
      entries.add(
          ScenarioEntry.median(
              Collections.nCopies(
                  5, SampleResults.entry("rate", client, 300, "all", "all", micros, 300))));
    }

    List<Ratio> ratios = Ratios.of(List.of(), entries, 7);

    assertThat(ratios).extracting(Ratio::peer).containsOnly(quick);
    assertThat(ratios.get(1).client()).isEqualTo(ours);
    assertThat(ratios.get(1).metric()).isEqualTo(Ratio.P99);
    assertThat(ratios.get(1).ratio()).isCloseTo(0.5, within(0.01));
    assertThat(ratios.get(1).claim()).isEqualTo(Claim.LOWER);
  }
}
