package dev.onehop.measure.delivery;

import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Runs work in parallel. */
final class Parallel {

  /** A part of the work on an object. */
  @FunctionalInterface
  interface Part<T> {
    /** Does the work. */
    void run(T on) throws Exception;
  }

  private Parallel() {}

  /**
   * Starts a part for each object in parallel, and waits until all have ended.
   *
   * @throws Failure if one has failed
   */
  static <T> void forEach(Collection<T> all, Part<T> part) throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(Math.max(1, all.size()));
    try {
      List<Future<?>> running = new ArrayList<>();
      for (T each : all) {
        running.add(
            threads.submit(
                () -> {
                  part.run(each);
                  return null;
                }));
      }
      for (Future<?> each : running) {
        await(each);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /**
   * Waits for work to end.
   *
   * @throws Failure if it has failed
   */
  static void await(Future<?> work) throws InterruptedException {
    try {
      var unused = work.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception why
          ? Failure.of(why)
          : Failure.run(Failure.firstLine(e), e);
    }
  }
}
