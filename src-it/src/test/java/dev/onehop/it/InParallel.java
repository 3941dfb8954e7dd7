package dev.onehop.it;

import java.time.Duration;
import java.util.List;
import java.util.function.IntFunction;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Calls a task on several threads. */
final class InParallel {
  private static final Duration AT_MOST = Duration.ofMinutes(5);

  private InParallel() {}

  /**
   * Calls the task with every number from 0 to {@code count - 1}. Returns the results that are not
   * null, in the order of the numbers.
   */
  static <T> List<T> call(int threads, int count, IntFunction<T> task) {
    Scheduler scheduler = Schedulers.newBoundedElastic(threads, count, "in-parallel");
    try {
      return Flux.range(0, count)
          .flatMapSequential(
              i -> Mono.fromCallable(() -> task.apply(i)).subscribeOn(scheduler), threads)
          .collectList()
          .block(AT_MOST);
    } finally {
      scheduler.dispose();
    }
  }
}
