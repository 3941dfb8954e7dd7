package dev.onehop.measure.delivery;

import dev.onehop.resync.Failure;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Work that is done at the same time. */
final class SideBySide {

  /** A part of the work. */
  @FunctionalInterface
  interface Part {
    /** Does it. */
    void run() throws Exception;
  }

  private SideBySide() {}

  /**
   * Begins all parts at once, and waits until all have ended.
   *
   * @throws Failure if one has failed
   */
  static void run(List<Part> parts) throws InterruptedException {
    ExecutorService threads = Executors.newFixedThreadPool(Math.max(1, parts.size()));
    try {
      List<Future<?>> running = new ArrayList<>();
      for (Part part : parts) {
        running.add(
            threads.submit(
                () -> {
                  part.run();
                  return null;
                }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception why
          ? Failure.of(why)
          : Failure.run(Failure.firstLine(e), e);
    } finally {
      threads.shutdownNow();
    }
  }
}
