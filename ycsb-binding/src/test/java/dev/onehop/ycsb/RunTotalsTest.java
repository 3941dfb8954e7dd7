package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class RunTotalsTest {
  private final RunTotals totals = new RunTotals("async");

  @Test
  void measuresFromFirstStartToLastEnd() {
    finish(tally(100, 200));
    finish(tally(50, 120));
    finish(tally(70, 1_000_000_050L));

    RunSummary summary = totals.summary();

    assertThat(summary.firstOperationNanos()).isEqualTo(50);
    assertThat(summary.lastOperationNanos()).isEqualTo(1_000_000_050L);
    assertThat(summary.measuredSeconds()).isEqualTo(1.0);
    assertThat(summary.operations()).isEqualTo(3);
  }

  @Test
  void timesCanOverflow() {
    finish(tally(Long.MAX_VALUE - 10, Long.MIN_VALUE + 10));
    finish(tally(Long.MIN_VALUE, Long.MIN_VALUE + 20));

    assertThat(totals.summary().firstOperationNanos()).isEqualTo(Long.MAX_VALUE - 10);
    assertThat(totals.summary().lastOperationNanos()).isEqualTo(Long.MIN_VALUE + 20);
  }

  @Test
  void idleThreadDoesNotChangeTimes() {
    finish(tally(-200, -100));
    finish(new Tally());

    assertThat(totals.summary().firstOperationNanos()).isEqualTo(-200);
    assertThat(totals.summary().lastOperationNanos()).isEqualTo(-100);
  }

  @Test
  void addsCountsOfThreads() {
    Tally failing = new Tally();
    failing.warmupOperations(1);
    failing.operation(1, 2, false);
    failing.operation(2, 3, true);
    failing.lost(4);
    finish(failing);
    Tally other = new Tally();
    other.warmupOperations(1);
    other.operation(1, 2, true);
    finish(other);
    totals.addRoutes(Map.of("owner", 2L));
    totals.addRoutes(Map.of("owner", 3L, "no-table", 1L));

    RunSummary summary = totals.summary();

    assertThat(summary.operations()).isEqualTo(3);
    assertThat(summary.errors()).isEqualTo(5);
    assertThat(summary.warmupOperations()).isEqualTo(2);
    assertThat(summary.routes()).isEqualTo(Map.of("owner", 5L, "no-table", 1L));
  }

  @Test
  void measuredTimeIncludesLastBatch() {
    Tally tally = tally(100, 200);
    tally.batchWritten(500);
    finish(tally);

    assertThat(totals.summary().lastOperationNanos()).isEqualTo(500);
  }

  @Test
  void isCompleteWhenAllThreadsHaveFinished() {
    totals.threadStarts();
    totals.threadStarts();
    totals.threadFinishes(new Tally());
    assertThat(totals.isComplete()).isFalse();

    totals.threadFinishes(new Tally());
    assertThat(totals.isComplete()).isTrue();
  }

  private void finish(Tally tally) {
    totals.threadStarts();
    totals.threadFinishes(tally);
  }

  private static Tally tally(long start, long end) {
    Tally tally = new Tally();
    tally.operation(start, end, true);
    return tally;
  }
}
