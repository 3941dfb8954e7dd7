package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RunLengthTest {
  private static final long WINDOW = 20_000_000;

  private final AtomicLong clock = new AtomicLong();

  private RunLength length(Duration duration, Double error, int leastWindows) {
    return new RunLength(duration, error, leastWindows, WINDOW, clock::get);
  }

  private void pass(long millis) {
    clock.addAndGet(Duration.ofMillis(millis).toNanos());
  }

  @Test
  void timeStartsAtFirstOperation() {
    RunLength length = length(Duration.ofMillis(150), null, 10);
    pass(200);

    assertThat(length.isOver()).isFalse();
    pass(149);
    assertThat(length.isOver()).isFalse();
    pass(1);
    assertThat(length.isOver()).isTrue();
  }

  @Test
  void neverEndsWithoutLimit() {
    RunLength length = length(null, null, 1);
    for (int i = 0; i < 100; i++) {
      assertThat(length.isOver()).isFalse();
      length.operation();
    }
  }

  @Test
  void endsWhenErrorIsSmallEnough() {
    // One operation in each window.
    RunLength length = length(null, 0.5, 5);
    int operations = 0;
    while (!length.isOver() && operations < 1_000) {
      pass(22);
      length.operation();
      operations++;
    }

    assertThat(length.reached().windows()).isGreaterThanOrEqualTo(5);
    assertThat(length.reached().error()).isLessThanOrEqualTo(0.5);
    // The first window does not count.
    assertThat(operations).isBetween(6, 999);
  }

  @Test
  void pauseCountsAsEmptyWindows() {
    RunLength length = length(null, 0.01, 3);
    assertThat(length.isOver()).isFalse();
    for (int i = 0; i < 3; i++) {
      pass(21);
      for (int j = 0; j < 1_000; j++) {
        length.operation();
      }
    }
    pass(200);
    length.operation();

    assertThat(length.reached().windows()).isGreaterThanOrEqualTo(9);
    assertThat(length.isOver()).isFalse();
  }
}
