package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class LauncherTest {
  private final RunTotals run = new RunTotals("async");

  @Test
  void unstartedRunIsProblem() {
    assertThat(Launcher.problemOf(List.of()))
        .hasValueSatisfying(problem -> assertThat(problem).contains("interrupted"));
  }

  @Test
  void unfinishedThreadIsProblem() {
    run.threadStarts();
    run.threadStarts();
    run.threadFinishes(new Tally());

    assertThat(Launcher.problemOf(List.of(run)))
        .hasValueSatisfying(problem -> assertThat(problem).contains("interrupted"));
  }

  @Test
  void failedOperationsAreProblem() {
    finish(true, true, false);

    assertThat(Launcher.problemOf(List.of(run))).hasValue("1 of 3 operations failed");
  }

  @Test
  void successfulRunHasNoProblem() {
    finish(true, true);

    assertThat(Launcher.problemOf(List.of(run))).isEmpty();
  }

  private void finish(boolean... ok) {
    Tally tally = new Tally();
    for (int i = 0; i < ok.length; i++) {
      tally.operation(i, i + 1, ok[i]);
    }
    run.threadStarts();
    run.threadFinishes(tally);
  }
}
