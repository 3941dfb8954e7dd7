package dev.onehop.measure.frame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class BackgroundTest {

  @Test
  void closeWaitsForWork() throws Exception {
    AtomicInteger ended = new AtomicInteger();
    CountDownLatch begun = new CountDownLatch(2);
    Background threads = new Background();
    for (int i = 0; i < 2; i++) {
      threads.start(
          "work-" + i,
          () -> {
            begun.countDown();
            while (!threads.isClosed()) {
              Thread.sleep(1);
            }
            ended.incrementAndGet();
          });
    }
    begun.await();
    threads.close();
    assertThat(ended).hasValue(2);
    threads.check();
  }

  @Test
  void checkThrowsFailureOfWork() {
    Background threads = new Background();
    threads.start(
        "work",
        () -> {
          throw new IllegalStateException("no");
        });
    threads.close();
    assertThatThrownBy(threads::check).isInstanceOf(IllegalStateException.class).hasMessage("no");
  }

  @Test
  void firstFailureIsKept() {
    Background threads = new Background();
    threads.start(
        "first",
        () -> {
          throw new IllegalStateException("first");
        });
    threads.close();
    threads.start(
        "second",
        () -> {
          throw new IllegalStateException("second");
        });
    threads.close();
    assertThatThrownBy(threads::check).hasMessage("first");
  }

  @Test
  void interruptIsNoFailure() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    Background threads = new Background();
    threads.start("sleeper", () -> Thread.sleep(Long.MAX_VALUE));
    threads.start(
        "driver",
        () -> {
          try {
            begun.countDown();
            Thread.sleep(Long.MAX_VALUE);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e); // as the driver does
          }
        });
    begun.await();
    threads.interrupt();
    assertThatCode(threads::check).doesNotThrowAnyException();
  }
}
