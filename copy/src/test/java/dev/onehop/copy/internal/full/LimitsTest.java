package dev.onehop.copy.internal.full;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

class LimitsTest {
  private static CompletableFuture<Void> passing(Limits limits, int times, int documents) {
    return CompletableFuture.runAsync(
        () -> {
          try {
            for (int i = 0; i < times; i++) {
              limits.pass(documents, documents * 10L);
            }
          } catch (InterruptedException e) {
            throw new CompletionException(e);
          }
        });
  }

  private static Duration time(Limits limits, int times) throws Exception {
    long begun = System.nanoTime();
    passing(limits, times, 100).get(1, TimeUnit.MINUTES);
    return Duration.ofNanos(System.nanoTime() - begun);
  }

  @Test
  void appliesSlowerRateOfDocumentsAndBytes() throws Exception {
    // The first call returns at once; the other three calls wait.
    assertThat(time(new Limits(1_000, Double.POSITIVE_INFINITY), 4))
        .isGreaterThanOrEqualTo(Duration.ofMillis(300));
    assertThat(time(new Limits(1e9, 10_000), 4)).isGreaterThanOrEqualTo(Duration.ofMillis(300));
  }

  @Test
  void blocksWhilePaused() {
    Limits limits = new Limits(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);
    limits.setPaused(true);
    CompletableFuture<Void> passed = passing(limits, 1, 1);
    Awaitility.await()
        .during(Duration.ofMillis(500))
        .atMost(Duration.ofSeconds(5))
        .until(() -> !passed.isDone());
    limits.setPaused(false);
    Awaitility.await().atMost(Duration.ofSeconds(30)).until(passed::isDone);
  }
}
