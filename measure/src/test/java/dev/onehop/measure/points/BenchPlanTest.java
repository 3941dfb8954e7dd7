package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class BenchPlanTest {

  private static BenchPlan plan(
      boolean largePoolAtMostOnly, @Nullable Long operations, @Nullable Duration duration) {
    return new BenchPlan(
        Mode.all(),
        List.of(1, 16, 64),
        5,
        1000,
        operations,
        duration,
        null,
        Duration.ofSeconds(2),
        null,
        1,
        15,
        BenchPlan.LARGE_POOL,
        largePoolAtMostOnly,
        Pipelining.TARGETED,
        Map.of(),
        null,
        null);
  }

  private static BenchPlan fourThreads(List<Mode> modes, int rounds, Pipelining pipelining) {
    return new BenchPlan(
        modes,
        List.of(4),
        5,
        1000,
        null,
        Duration.ofSeconds(5),
        null,
        Duration.ofSeconds(2),
        null,
        rounds,
        15,
        0,
        true,
        pipelining,
        Map.of(),
        null,
        null);
  }

  private static List<String> order(BenchPlan plan) {
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

  @Test
  void routedModesStandWithAndWithoutPipelining() {
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
  void theOrderIsRandomButTheSameForASeed() {
    BenchPlan plan = plan(true, null, Duration.ofSeconds(5));

    assertThat(plan.measurements())
        .isNotEqualTo(plan.points())
        .containsExactlyInAnyOrderElementsOf(plan.points())
        .isEqualTo(plan(true, null, Duration.ofSeconds(5)).measurements());
  }

  @Test
  void atARateOfficialClientsHaveBothPoolsAndRoutedOnesStandTwice() {
    List<Mode> modes = List.of(Mode.LEGACY, Mode.TARGETED_ASYNC, Mode.PIPELINED_ONLY);
    BenchPlan plan = atRates(modes, new RatePlan(List.of(100.0, 300.0), false));

    assertThat(plan.points()).hasSize(10);
    assertThat(plan.points().subList(5, 10))
        .extracting(PointPlan::title)
        .containsExactly(
            "legacy, 300/s, 100 connections",
            "legacy, 300/s, 5 connections",
            "targeted-async, 300/s, 100 connections",
            "targeted-async, 300/s, 5 connections, pipelined",
            "pipelined-only, 300/s, 5 connections, pipelined");
    assertThat(plan.points().get(9).folder()).isEqualTo("points/pipelined-only-r300-c5-pipelined");
  }

  private static BenchPlan atRates(List<Mode> modes, RatePlan rates) {
    return new BenchPlan(
        modes,
        List.of(100),
        5,
        1000,
        null,
        Duration.ofSeconds(5),
        null,
        Duration.ofSeconds(25),
        Duration.ofSeconds(8),
        1,
        15,
        BenchPlan.LARGE_POOL,
        true,
        Pipelining.TARGETED,
        Map.of(),
        rates,
        null);
  }

  @Test
  void aLargePoolIsShownWhereverThePoolCaps() {
    // At one thread a pool of 5 caps nothing.
    assertThat(order(plan(false, null, Duration.ofSeconds(5))))
        .contains("legacy 16/100", "async 16/100", "legacy 64/100", "async 64/100")
        .doesNotContain("legacy 1/100", "targeted-async 64/100");
  }

  @Test
  void theSeedExperimentsTimeFollowsFromTheClosedLoop() {
    BenchPlan plan = plan(true, 100_000L, null);
    PointPlan capped = new PointPlan(Mode.LEGACY, 64, 5, false);
    // 100,000 operations, 5 at a time, 43.5 ms each: 870 s and what surrounds them.
    assertThat(plan.estimate(capped, 43.5).toSeconds()).isBetween(870L, 880L);
    assertThat(plan.estimate(new PointPlan(Mode.ASYNC, 64, 100, false), 43.5).toSeconds())
        .isBetween(67L, 75L);
  }

  @Test
  void pointsBoundInTimeTakeThatTime() {
    BenchPlan plan = plan(true, null, Duration.ofSeconds(5));
    assertThat(plan.estimate(43.5)).isBetween(Duration.ofSeconds(20 * 7), Duration.ofSeconds(210));
  }

  @Test
  void theTimeLeftLearnsFromThePointsThatRan() {
    BenchPlan plan = plan(true, null, Duration.ofSeconds(5));
    TimeLeft timeLeft = new TimeLeft(plan, plan.points(), 43.5);
    Duration atFirst = timeLeft.from(1);
    timeLeft.took(0, timeLeft.estimate(0).multipliedBy(2));
    assertThat(timeLeft.from(1)).isEqualTo(atFirst.multipliedBy(2));
    assertThat(timeLeft.from(plan.points().size())).isZero();
  }

  @Test
  void roundsGoOverAllPointsInTurn() {
    BenchPlan once = plan(true, null, Duration.ofSeconds(5));
    BenchPlan thrice = fourThreads(List.of(Mode.ASYNC, Mode.TARGETED_ASYNC), 3, Pipelining.OFF);

    assertThat(thrice.points()).hasSize(2);
    for (int round = 1; round <= 3; round++) {
      assertThat(thrice.measurements().subList(2 * round - 2, 2 * round))
          .extracting(PointPlan::folder)
          .containsExactlyInAnyOrder(
              "points/async-t4-c5-round" + round, "points/targeted-async-t4-c5-round" + round);
    }
    assertThat(thrice.estimate(43.5)).isEqualTo(once.estimate(43.5).dividedBy(20).multipliedBy(6));
  }

  @Test
  void aPointThatIsMeasuredToAnErrorIsNotExpectedToTakeItsOperations() {
    BenchPlan full = plan(true, 100_000L, null);
    BenchPlan bounded =
        new BenchPlan(
            full.modes(),
            full.threads(),
            5,
            1000,
            100_000L,
            null,
            0.02,
            full.warmup(),
            null,
            1,
            15,
            0,
            true,
            Pipelining.TARGETED,
            Map.of(),
            null,
            null);
    PointPlan capped = new PointPlan(Mode.LEGACY, 64, 5, false);

    assertThat(bounded.estimate(capped, 43.5)).isLessThan(Duration.ofSeconds(60));
  }

  @Test
  void bothShowsEveryModeThatCanPipelineTwice() {
    BenchPlan plan = fourThreads(Mode.all(), 1, Pipelining.BOTH);

    assertThat(plan.points())
        .extracting(PointPlan::title)
        .containsExactly(
            "legacy, 4 threads, 5 connections",
            "async, 4 threads, 5 connections",
            "async, 4 threads, 5 connections, pipelined",
            "targeted-async, 4 threads, 5 connections",
            "targeted-async, 4 threads, 5 connections, pipelined",
            "direct-async, 4 threads, 5 connections",
            "direct-async, 4 threads, 5 connections, pipelined");
  }

  @Test
  void aBriefScenarioHasTheReactiveClientsAsTheyAre() {
    ScenarioPlan whole = ScenarioPlan.of(Scenario.SHARD_FREEZE, 300, false);
    assertThat(whole.count(Mode.all())).isEqualTo(6);
    assertThat(whole.shortened().contenders(Mode.all()))
        .extracting(client -> client.mode() + "/" + client.connections())
        .containsExactly("async/100", "targeted-async/100", "direct-async/100");
  }
}
