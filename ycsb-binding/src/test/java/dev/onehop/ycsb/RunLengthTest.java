package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RunLengthTest {
  private static final long WINDOW = 20_000_000;

  @Test
  void timeCountsFromTheFirstOperationOn() throws Exception {
    RunLength length = new RunLength(Duration.ofMillis(150), null, 10, WINDOW);
    Thread.sleep(200);

    assertThat(length.isOver()).isFalse();
    Thread.sleep(200);
    assertThat(length.isOver()).isTrue();
  }

  @Test
  void withoutALimitItNeverEnds() {
    RunLength length = new RunLength(null, null, 1, WINDOW);
    for (int i = 0; i < 100; i++) {
      assertThat(length.isOver()).isFalse();
      length.operation();
    }
  }

  @Test
  void itEndsWhenTheErrorIsSmallEnough() throws Exception {
    // One operation a window, as late as the machine lets it be.
    RunLength length = new RunLength(null, 0.5, 5, WINDOW);
    int operations = 0;
    while (!length.isOver() && operations < 1_000) {
      Thread.sleep(22);
      length.operation();
      operations++;
    }

    assertThat(length.reached().windows()).isGreaterThanOrEqualTo(5);
    assertThat(length.reached().error()).isLessThanOrEqualTo(0.5);
    // The first window is left out.
    assertThat(operations).isBetween(6, 999);
  }

  @Test
  void aPauseIsWindowsWithoutOperations() throws Exception {
    RunLength length = new RunLength(null, 0.01, 3, WINDOW);
    assertThat(length.isOver()).isFalse();
    for (int i = 0; i < 3; i++) {
      Thread.sleep(21);
      for (int j = 0; j < 1_000; j++) {
        length.operation();
      }
    }
    Thread.sleep(200);
    length.operation();

    assertThat(length.reached().windows()).isGreaterThanOrEqualTo(9);
    assertThat(length.isOver()).isFalse();
  }
}
