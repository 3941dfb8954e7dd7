package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class PointsPlanTest {

  private static final Warmup TWO_SECONDS = Warmup.of(Duration.ofSeconds(2));

  private static PointsPlan plan(
      boolean largePoolAtMostOnly, @Nullable Long operations, @Nullable Duration duration) {
    return PointsPlan.of(Map.of(), 1, 15)
        .closedLoops(
            Mode.all(),
            List.of(1, 16, 64),
            5,
            Pipelining.TARGETED,
            largePoolAtMostOnly,
            TWO_SECONDS,
            operations,
            duration);
  }

  private static PointsPlan fourThreads(List<Mode> modes, int rounds, Pipelining pipelining) {
    return PointsPlan.of(Map.of(), rounds, 15)
        .closedLoops(
            modes, List.of(4), 5, pipelining, true, TWO_SECONDS, null, Duration.ofSeconds(5));
  }

  private static List<String> order(PointsPlan plan) {
    return plan.points().stream()
        .map(
            p ->
                p.mode()
                    + " "
                    + p.threads()
                    + "/"
                    + p.connections()
                    + (p.pipelining() ? " pipelined" : ""))
        .toList();
  }

  private static PointCell closedLoop(Mode mode, int connections, Double error) {
    return new PointCell(
        mode, 64, connections, false, new ClosedLoop(TWO_SECONDS, 100_000L, null, error));
  }

  private static Duration estimate(PointCell cell) {
    return cell.load().estimate(cell, 43.5);
  }

  @Test
  void routedModesRunWithAndWithoutPipelining() {
    assertThat(order(plan(true, null, Duration.ofSeconds(5))))
        .hasSize(20)
        .containsSubsequence(
            "legacy 64/5",
            "legacy 64/100",
            "async 64/5",
            "async 64/100",
            "targeted-async 64/5",
            "targeted-async 64/5 pipelined",
            "direct-async 64/5",
            "direct-async 64/5 pipelined");
  }

  @Test
  void orderIsRandomButFixedBySeed() {
    PointsPlan plan = plan(true, null, Duration.ofSeconds(5));

    assertThat(plan.measurements())
        .isNotEqualTo(plan.points())
        .containsExactlyInAnyOrderElementsOf(plan.points())
        .isEqualTo(plan(true, null, Duration.ofSeconds(5)).measurements());
  }

  @Test
  void ratesMeasureBothPoolsAndPipelining() {
    List<Mode> modes = List.of(Mode.LEGACY, Mode.TARGETED_ASYNC, Mode.PIPELINED_ONLY);
    PointsPlan plan =
        PointsPlan.of(Map.of(), 1, 15)
            .rates(
                modes,
                List.of(100.0, 300.0),
                false,
                5,
                Pipelining.TARGETED,
                Warmup.UNTIL_STEADY,
                Duration.ofSeconds(5));

    assertThat(plan.points()).hasSize(10);
    assertThat(plan.titles().subList(5, 10))
        .containsExactly(
            "legacy, 300/s, 100 connections",
            "legacy, 300/s, 5 connections",
            "targeted-async, 300/s, 100 connections",
            "targeted-async, 300/s, 5 connections, pipelined",
            "pipelined-only, 300/s, 5 connections, pipelined");
    assertThat(plan.points().get(9).folder()).isEqualTo("points/pipelined-only-r300-c5-pipelined");
  }

  @Test
  void measuresLargePoolWhereSmallPoolLimits() {
    // With one thread, a pool of 5 is no limit, so a pool of 100 is not measured.
    assertThat(order(plan(false, null, Duration.ofSeconds(5))))
        .contains("legacy 16/100", "async 16/100", "legacy 64/100", "async 64/100")
        .doesNotContain("legacy 1/100", "targeted-async 64/100");
  }

  @Test
  void addsDefaultPoolsToExistingPoints() {
    PointsPlan plan =
        PointsPlan.of(Map.of(), 1, 15)
            .closedLoops(
                List.of(Mode.ASYNC, Mode.DIRECT_ASYNC),
                List.of(50),
                5,
                Pipelining.OFF,
                true,
                TWO_SECONDS,
                null,
                Duration.ofSeconds(5))
            .defaultPools(
                List.of(Mode.ASYNC, Mode.DIRECT_ASYNC), 50, TWO_SECONDS, Duration.ofSeconds(5));
    assertThat(order(plan))
        .containsExactly("async 50/5", "async 50/100", "direct-async 50/5", "direct-async 50/100");
  }

  @Test
  void estimatesSeedExperimentFromClosedLoop() {
    // A pool of 5 executes 100,000 operations of 43.5 ms, 5 at a time: 870 s, plus the overhead.
    assertThat(estimate(closedLoop(Mode.LEGACY, 5, null)).toSeconds()).isBetween(870L, 880L);
    assertThat(estimate(closedLoop(Mode.ASYNC, 100, null)).toSeconds()).isBetween(67L, 75L);
  }

  @Test
  void estimatesTimedPointsByTheirDuration() {
    PointsPlan plan = plan(true, null, Duration.ofSeconds(5));
    assertThat(plan.estimate(43.5)).isBetween(Duration.ofSeconds(20 * 7), Duration.ofSeconds(210));
  }

  @Test
  void eachRoundMeasuresAllPoints() {
    PointsPlan once = plan(true, null, Duration.ofSeconds(5));
    PointsPlan thrice = fourThreads(List.of(Mode.ASYNC, Mode.TARGETED_ASYNC), 3, Pipelining.OFF);

    assertThat(thrice.points()).hasSize(2);
    for (int round = 1; round <= 3; round++) {
      assertThat(thrice.measurements().subList(2 * round - 2, 2 * round))
          .extracting(PointCell::folder)
          .containsExactlyInAnyOrder(
              "points/async-t4-c5-round" + round, "points/targeted-async-t4-c5-round" + round);
    }
    assertThat(thrice.estimate(43.5)).isEqualTo(once.estimate(43.5).dividedBy(20).multipliedBy(6));
  }

  @Test
  void targetErrorShortensEstimate() {
    assertThat(estimate(closedLoop(Mode.LEGACY, 5, 0.02))).isLessThan(Duration.ofSeconds(60));
  }

  @Test
  void bothMeasuresPipeliningModesTwice() {
    assertThat(fourThreads(Mode.all(), 1, Pipelining.BOTH).titles())
        .containsExactly(
            "legacy, 4 threads, 5 connections",
            "async, 4 threads, 5 connections",
            "async, 4 threads, 5 connections, pipelined",
            "targeted-async, 4 threads, 5 connections",
            "targeted-async, 4 threads, 5 connections, pipelined",
            "direct-async, 4 threads, 5 connections",
            "direct-async, 4 threads, 5 connections, pipelined");
  }

  private static PointsPlan frozen(boolean brief) {
    return PointsPlan.of(Map.of(), 1, 15)
        .fault(Scenario.SHARD_FREEZE, Mode.all(), 300, false, null, brief);
  }

  /** The results of a fault name this folder, so that their logs are found. */
  @Test
  void faultFolderNamesScenario() {
    assertThat(frozen(true).all())
        .extracting(PointCell::folder)
        .startsWith("points/legacy-t100-c100-shard-freeze");
  }

  @Test
  void briefScenarioMeasuresEachClientOnce() {
    assertThat(frozen(false).all()).hasSize(6);
    assertThat(frozen(true).all())
        .extracting(cell -> cell.mode() + "/" + cell.connections())
        .containsExactly("legacy/100", "async/100", "targeted-async/100", "direct-async/100");
  }

  /** Without pipelining, the mode would be the same client as {@code async}. */
  @Test
  void pipelinedOnlyModeIsPipelinedInEveryScenario() {
    List<Mode> mode = List.of(Mode.PIPELINED_ONLY);
    PointsPlan plan =
        PointsPlan.of(Map.of(), 1, 15)
            .fault(Scenario.SHARD_FREEZE, mode, 300, false, null, true)
            .fleet(mode, 50, 500, false, null)
            .zones(mode, List.of("a"), 300, null);
    assertThat(plan.all())
        .hasSize(1 + 1 + 4)
        .allMatch(cell -> cell.pipelining() && cell.connections() == 5);
  }

  @Test
  void scenariosRunInOrderOfAddition() {
    PointsPlan first =
        frozen(true).defaultPools(List.of(Mode.ASYNC), 50, TWO_SECONDS, Duration.ofSeconds(5));
    PointsPlan last =
        PointsPlan.of(Map.of(), 1, 15)
            .defaultPools(List.of(Mode.ASYNC), 50, TWO_SECONDS, Duration.ofSeconds(5))
            .fault(Scenario.SHARD_FREEZE, List.of(Mode.ASYNC), 300, false, null, true);
    assertThat(first.measurements().get(4).title()).isEqualTo("async, 50 threads, 100 connections");
    assertThat(last.measurements().get(1).title())
        .isEqualTo("shard-freeze, async, 100 threads, 100 connections");
  }

  @Test
  void fleetMeasuresFewSocketsFirst() {
    PointsPlan plan =
        PointsPlan.of(Map.of(), 1, 15)
            .fleet(List.of(Mode.ASYNC, Mode.DIRECT_ASYNC), 50, 500, false, null);
    assertThat(plan.all())
        .extracting(cell -> cell.mode() + "/" + cell.connections())
        .containsExactly("direct-async/5", "async/100", "direct-async/100");
    assertThat(((Fleet) plan.all().get(0).load()).arrivals().duration())
        .isEqualTo(Duration.ofSeconds(30));
  }
}
