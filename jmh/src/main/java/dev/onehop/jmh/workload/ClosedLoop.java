package dev.onehop.jmh.workload;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import site.ycsb.DB;
import site.ycsb.Workload;

/**
 * Threads that run operations of a workload one after the other and signal the end of each.
 *
 * <p>The measuring thread takes the ended operations one by one with {@link #awaitOperation}, which
 * returns once for each ended operation.
 */
final class ClosedLoop {
  private final Semaphore ended = new Semaphore(0);
  private final LongAdder operations = new LongAdder();
  private final LongAdder latencyNanos = new LongAdder();
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean stopped;
  private volatile long resetNanos = System.nanoTime();

  /** Starts a thread for each of {@code bindings}. The bindings stay open when the loop stops. */
  ClosedLoop(Workload workload, List<? extends DB> bindings) {
    for (DB binding : bindings) {
      Thread thread = new Thread(() -> loop(workload, binding), "workload-" + threads.size());
      thread.setDaemon(true);
      threads.add(thread);
    }
    threads.forEach(Thread::start);
  }

  /**
   * Waits for the next ended operation. Each ended operation lets this method return once.
   *
   * @throws IllegalStateException if an operation has failed
   */
  void awaitOperation() throws InterruptedException {
    ended.acquire();
    Throwable cause = failure.get();
    if (cause != null) {
      throw new IllegalStateException("an operation failed", cause);
    }
  }

  /** Discards the operations that have ended. Running operations continue. */
  void reset() {
    ended.drainPermits();
    if (failure.get() != null) {
      ended.release(); // the next call of awaitOperation() reports the failure
    }
    operations.reset();
    latencyNanos.reset();
    resetNanos = System.nanoTime();
  }

  /** Mean latency since the last reset in microseconds; 0 if no operation has ended. */
  double meanLatencyMicros() {
    long count = operations.sum();
    return count == 0 ? 0 : latencyNanos.sum() / 1e3 / count;
  }

  /** Seconds since the last reset. */
  double elapsedSeconds() {
    return (System.nanoTime() - resetNanos) / 1e9;
  }

  /** Waits until every thread has ended its last operation. */
  void stop() throws InterruptedException {
    stopped = true;
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void loop(Workload workload, DB binding) {
    DB checked = new CheckedDb(binding);
    try {
      while (!stopped) {
        long start = System.nanoTime();
        if (!workload.doTransaction(checked, null)) {
          throw new IllegalStateException("the workload has no more operations");
        }
        latencyNanos.add(System.nanoTime() - start);
        operations.increment();
        ended.release();
      }
    } catch (RuntimeException | Error e) {
      failure.compareAndSet(null, e);
      ended.release();
    }
  }
}
