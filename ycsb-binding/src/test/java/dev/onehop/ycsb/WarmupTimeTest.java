package dev.onehop.ycsb;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WarmupTimeTest {
  private static final long WINDOW = 20_000_000;

  private final AtomicLong clock = new AtomicLong();

  private WarmupTime untilSteady(Duration least, Duration most, LongSupplier compiledMillis) {
    return new WarmupTime(least, most, WINDOW, compiledMillis, clock::get);
  }

  private void pass(long millis) {
    clock.addAndGet(Duration.ofMillis(millis).toNanos());
  }

  @ParameterizedTest
  @CsvSource({
    "100 100, false",
    "100 100 100, true",
    "1000 5000 10000 10400 10200, true",
    "10000 10300 10200, true",
    // The spread is 6 % of the mean.
    "10000 10600 10300, false",
    // The rate still rises slightly.
    "10000 10100 10200, false",
    "10200 10100 10000, true",
    "0 0 0, true",
    "10000 10000 10000 5000, false",
    // With some 100 operations, a difference of 20 may be chance.
    "100 118 103, true",
    "100 125 103, false"
  })
  void lastThreeWindowsDecideSteadiness(String windows, boolean steady) {
    List<Long> counts = Arrays.stream(windows.split(" ", -1)).map(Long::valueOf).toList();

    assertThat(WarmupTime.isSteady(counts)).isEqualTo(steady);
  }

  @Test
  void fixedTimeIgnoresRate() {
    WarmupTime time = WarmupTime.fixed(Duration.ofMillis(500));
    long before = time.endNanos();
    time.operation();

    assertThat(time.endNanos()).isEqualTo(before);
    assertThat(time.hotEndNanos()).isEqualTo(before - 250_000_000);
    assertThat(time.seconds()).isEqualTo(0.5);
    assertThat(time.steady()).isNull();
  }

  @Test
  void steadyRateEndsWarmupAfterMinimumTime() {
    // The rate is steady: each window has one operation, the one that ends it.
    WarmupTime time = untilSteady(Duration.ofMillis(100), Duration.ofSeconds(60), () -> 0);
    while (clock.get() - time.hotEndNanos() < 0) {
      pass(21);
      time.operation();
    }

    assertThat(time.steady()).isTrue();
    // Three windows of 21 ms, then half of the minimum time with the operations of the run.
    assertThat(time.seconds()).isEqualTo(0.113);
  }

  @Test
  void continuesWhileCompilersWork() {
    AtomicLong compiled = new AtomicLong();
    WarmupTime time =
        untilSteady(
            Duration.ofMillis(50),
            Duration.ofMillis(400),
            // The compilers work 3 of the 20 ms of a window.
            () -> compiled.addAndGet(3));
    while (clock.get() - time.endNanos() < 0) {
      pass(21);
      time.operation();
    }

    assertThat(time.steady()).isFalse();
    assertThat(time.seconds()).isEqualTo(0.4);
  }

  @Test
  void risingRateIsNotSteady() {
    WarmupTime time = untilSteady(Duration.ofMillis(50), Duration.ofMillis(400), () -> 0);
    List<Integer> sizes = new ArrayList<>();
    while (clock.get() - time.endNanos() < 0) {
      sizes.add(1);
      // Each window has 1.5 times the operations of the previous window.
      for (int i = 0; i < 10 * Math.pow(1.5, sizes.size()); i++) {
        time.operation();
      }
      pass(21);
    }

    assertThat(time.steady()).isFalse();
    assertThat(time.seconds()).isEqualTo(0.4);
  }
}
