package dev.onehop.measure.frame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.onehop.measure.frame.Sampler.Sample;
import dev.onehop.testbed.TestbedException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ServerWatchTest {

  private static Sample<Map<String, Long>> at(long nanos, long a, long b) {
    return new Sample<>(nanos, Map.of("a", a, "b", b));
  }

  @Test
  void ignoresOperationsBeforeWindow() {
    // Before the window, in the warm-up, only server a executes operations: 500 of them.
    Map<String, Double> shares =
        ServerWatch.shares(List.of(at(0, 0, 0), at(1000, 500, 0), at(2000, 510, 30)), 1000, 2000);
    assertThat(shares.get("a")).isCloseTo(0.25, within(1e-9));
    assertThat(shares.get("b")).isCloseTo(0.75, within(1e-9));
  }

  @Test
  void countsBetweenSamplesAreInterpolated() {
    // The window begins and ends between samples. So it has half of the 100 operations on a, and
    // half of the 50 operations on b.
    Map<String, Double> shares =
        ServerWatch.shares(
            List.of(at(0, 0, 100), at(1000, 100, 100), at(2000, 100, 150)), 500, 1500);
    assertThat(shares.get("a")).isCloseTo(50 / 75.0, within(1e-9));
  }

  @Test
  void windowBeyondSamplesUsesOutermostSamples() {
    assertThat(ServerWatch.shares(List.of(at(1000, 10, 0), at(2000, 20, 0)), 0, 9000))
        .containsEntry("a", 1.0);
  }

  @Test
  void countsShardFromItsFirstSample() {
    // The first sample lacks b: reading b failed, or b was added later. The 1,000 operations before
    // its first sample do not count.
    Map<String, Double> shares =
        ServerWatch.shares(
            List.of(new Sample<>(0, Map.of("a", 0L)), at(1000, 10, 1000), at(2000, 20, 1010)),
            0,
            2000);
    assertThat(shares.get("a")).isCloseTo(20 / 30.0, within(1e-9));
    assertThat(shares.get("b")).isCloseTo(10 / 30.0, within(1e-9));
  }

  /** A shard is down for a while, for example in a scenario that ends its primary. */
  @Test
  void ignoresFailedReadBetweenFirstAndLast() throws InterruptedException {
    CountDownLatch failing = new CountDownLatch(2);
    AtomicLong served = new AtomicLong();
    long from = System.nanoTime();
    try (ServerWatch watch =
        new ServerWatch(
            () -> {
              if (served.get() == 5) {
                failing.countDown();
                throw new TestbedException("the shard is down", null);
              }
              return Map.of("a", served.getAndAdd(5), "b", 7L);
            },
            null,
            false)) {
      assertThat(failing.await(10, TimeUnit.SECONDS)).isTrue();
      served.set(50);
      assertThat(watch.evidence(from, System.nanoTime() + 1_000_000_000).share())
          .isEqualTo(Map.of("a", 1.0, "b", 0.0));
    }
  }

  @Test
  void throwsFailureOfFirstOrLastRead() {
    TestbedException down = new TestbedException("the shard is down", null);
    assertThatThrownBy(
            () ->
                new ServerWatch(
                    () -> {
                      throw down;
                    },
                    null,
                    false))
        .isSameAs(down);
    AtomicBoolean begun = new AtomicBoolean();
    try (ServerWatch watch =
        new ServerWatch(
            () -> {
              if (begun.getAndSet(true)) {
                throw down;
              }
              return Map.of("a", 0L);
            },
            null,
            false)) {
      assertThatThrownBy(() -> watch.evidence(0, 1)).isSameAs(down);
    }
  }

  @Test
  void noOperationsGiveNoShares() {
    assertThat(ServerWatch.shares(List.of(new Sample<>(0, Map.of())), 0, 1)).isEmpty();
    assertThat(ServerWatch.shares(List.of(at(0, 5, 5), at(10, 5, 5)), 0, 10)).isEmpty();
  }
}
