package dev.onehop.cli.bench;

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
        Duration.ofSeconds(2),
        1,
        BenchPlan.LARGE_POOL,
        largePoolAtMostOnly,
        Pipelining.TARGETED,
        Map.of(),
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
        Duration.ofSeconds(2),
        rounds,
        0,
        true,
        pipelining,
        Map.of(),
        null);
  }

  private static List<String> order(BenchPlan plan) {
    return plan.points().stream()
        .map(p -> p.mode() + " " + p.threads() + "/" + p.connections())
        .toList();
  }

  @Test
  void modesRotateOverTheThreadCounts() {
    assertThat(order(plan(true, null, Duration.ofSeconds(5))))
        .containsExactly(
            "legacy 1/5",
            "async 1/5",
            "targeted-async 1/5",
            "direct-async 1/5",
            "async 16/5",
            "targeted-async 16/5",
            "direct-async 16/5",
            "legacy 16/5",
            "targeted-async 64/5",
            "direct-async 64/5",
            "legacy 64/5",
            "legacy 64/100",
            "async 64/5",
            "async 64/100");
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
    assertThat(plan.estimate(43.5)).isBetween(Duration.ofSeconds(14 * 7), Duration.ofSeconds(150));
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
    BenchPlan thrice =
        fourThreads(List.of(Mode.ASYNC, Mode.TARGETED_ASYNC), 3, Pipelining.TARGETED);

    assertThat(once.measurements()).isEqualTo(once.points());
    assertThat(thrice.points()).hasSize(2);
    assertThat(thrice.measurements())
        .extracting(PointPlan::folder)
        .containsExactly(
            "points/async-t4-c5-round1",
            "points/targeted-async-t4-c5-pipelined-round1",
            "points/async-t4-c5-round2",
            "points/targeted-async-t4-c5-pipelined-round2",
            "points/async-t4-c5-round3",
            "points/targeted-async-t4-c5-pipelined-round3");
    assertThat(thrice.estimate(43.5)).isEqualTo(once.estimate(43.5).dividedBy(14).multipliedBy(6));
  }

  @Test
  void pipeliningIsOnWhereOperationsGoTheirOwnWays() {
    assertThat(plan(true, null, Duration.ofSeconds(5)).points())
        .allMatch(point -> point.pipelining() != point.mode().throughOneRouter());
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
}
