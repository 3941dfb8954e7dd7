package dev.onehop.measure.points;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class YcsbOutputTest {

  private static final String GOOD =
      """
      [OVERALL], RunTime(ms), 5010
      [OVERALL], Throughput(ops/sec), 22.75
      [TOTAL_GC_TIME_%], Time(%), 0.3592814371257485
      [READ], Operations, 60
      [READ], AverageLatency(us), 44012.5
      [READ], Return=OK, 60
      [CLEANUP], Operations, 1
      [UPDATE], Operations, 54
      [UPDATE], Return=OK, 54
      """;

  @Test
  void successfulRunHasNoErrors() {
    YcsbOutput output = YcsbOutput.parse(GOOD);
    assertThat(output.complete()).isTrue();
    assertThat(output.errors()).isZero();
    assertThat(output.failures()).isEmpty();
  }

  @Test
  void countsEachFailureOnce() {
    YcsbOutput output =
        YcsbOutput.parse(
            GOOD
                + """
                [READ], Return=NOT_FOUND, 3
                [READ-FAILED], Operations, 3
                [READ-FAILED], AverageLatency(us), 70.0
                [UPDATE-FAILED], Operations, 2
                [INSERT], Return=BATCHED_OK, 100
                """);
    assertThat(output.errors()).isEqualTo(5);
    assertThat(output.failures())
        .containsEntry("READ NOT_FOUND", 3L)
        .containsEntry("UPDATE FAILED", 2L);
  }

  @Test
  void abortedRunIsNotComplete() {
    assertThat(YcsbOutput.parse("").complete()).isFalse();
    assertThat(YcsbOutput.parse("java.lang.NullPointerException\n\tat site.ycsb").complete())
        .isFalse();
  }

  @Test
  void statusLineHasOperationsAndRate() {
    assertThat(
            StatusLine.parse(
                "2026-11-21 04:14:46:123 3 sec: 341 operations; 113.5 current ops/sec; "
                    + "[READ: Count=57, Max=1, Min=1, Avg=1, 50=1, 90=1, 99=1, 99.9=1, 99.99=1]"))
        .contains(new StatusLine(341, 113.5, 1, 0));
    assertThat(StatusLine.parse("2026-11-21 04:14:43:123 0 sec: 0 operations; "))
        .contains(new StatusLine(0, 0, 0, 0));
    assertThat(
            StatusLine.parse(
                "2026-11-21 04:14:46:123 3 sec: 9 operations; 4,5 current ops/sec; est completion"))
        .contains(new StatusLine(9, 4.5, 0, 0));
    assertThat(StatusLine.parse("Loading workload...")).isEmpty();
  }

  @Test
  void statusLineHasSlowestKindAndFailures() {
    StatusLine status =
        StatusLine.parse(
                "3 sec: 341 operations; 113.5 current ops/sec; [READ: Count=57, Max=90000, 90=800,"
                    + " 99=900, 99.9=910] [UPDATE: Count=56, Max=2, 99=70500, 99.9=80000]"
                    + " [READ-FAILED: Count=3, Max=1, 99=999999, 99.9=1]")
            .orElseThrow();
    assertThat(status).isEqualTo(new StatusLine(341, 113.5, 70_500, 3));
    assertThat(StatusLine.sum(List.of(status, new StatusLine(9, 0.5, 0, 1))).text())
        .isEqualTo("350 operations, 114/s, p99 70.5 ms, 4 failed");
  }
}
