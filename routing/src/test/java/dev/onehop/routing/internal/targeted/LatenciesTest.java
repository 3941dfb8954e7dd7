package dev.onehop.routing.internal.targeted;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class LatenciesTest {
  private final Latencies latencies = new Latencies();
  private long now = 1;

  @Test
  void usualLatencyIsNotSuspicious() {
    for (int i = 0; i < 1_000; i++) {
      assertThat(recordFind(60 + i % 20)).isFalse();
    }
  }

  @Test
  void repeatedHighLatencyIsSuspicious() {
    recordFind(1);

    assertThat(recordFind(70)).isFalse();
    assertThat(recordFind(70)).isFalse();
    assertThat(recordFind(70)).isFalse();
    assertThat(recordFind(70)).isTrue();
  }

  @Test
  void occasionalHighLatencyIsNotSuspicious() {
    recordFind(1);

    for (int i = 0; i < 100; i++) {
      now += TimeUnit.SECONDS.toNanos(2);
      assertThat(recordFind(70)).isFalse();
    }
  }

  @Test
  void usualLatencyDependsOnOperation() {
    for (int i = 0; i < 10; i++) {
      assertThat(latencies.isSuspicious("find", "s0", 1_000_000, now)).isFalse();
      assertThat(latencies.isSuspicious("aggregate", "s0", 90_000_000, now)).isFalse();
    }
  }

  private boolean recordFind(long millis) {
    return latencies.isSuspicious("find", "s0", TimeUnit.MILLISECONDS.toNanos(millis), now);
  }
}
