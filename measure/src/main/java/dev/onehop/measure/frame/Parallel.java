package dev.onehop.measure.frame;

import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Runs work in parallel. */
public final class Parallel {

  /** Work on an object. */
  @FunctionalInterface
  public interface Part<T> {
    /** Does the work. */
    void run(T on) throws Exception;
  }

  private static final long ENDING_SECONDS = 30;

  private Parallel() {}

  /**
   * Runs work for each object in parallel, and waits until all work has ended.
   *
   * @throws Failure if the work for an object has failed
   */
  public static <T> void forEach(Collection<T> all, Part<T> part) throws InterruptedException {
    forEach(Math.max(1, all.size()), all, part);
  }

  /**
   * Runs work for each object, and waits until all work has ended.
   *
   * @param most the largest number of objects at the same time
   * @throws Failure if the work for an object has failed. The remaining work is then interrupted,
   *     and has ended unless it ignores the interrupt
   */
  public static <T> void forEach(int most, Collection<T> all, Part<T> part)
      throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(most);
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
      boolean unused = threads.awaitTermination(ENDING_SECONDS, TimeUnit.SECONDS);
    }
  }

  /**
   * Waits for the end of work.
   *
   * @throws Failure if the work has failed
   */
  public static void await(Future<?> work) throws InterruptedException {
    try {
      var unused = work.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception why
          ? Failure.of(why)
          : Failure.run(Failure.firstLine(e), e);
    }
  }

  /** Waits until threads have ended. Stops waiting if this thread is interrupted. */
  public static void join(Collection<Thread> threads) {
    for (Thread thread : threads) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
