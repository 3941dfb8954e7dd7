package dev.onehop.streams.channel;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Runs the channels that have events. One thread per processor runs the channels one after another.
 * There is no thread per channel, because waking a thread costs more time than the usual processing
 * of an event. While a channel waits for a thread, more events arrive, so its next batch is larger.
 * If a channel waits for more than a millisecond because other channels block their threads, an
 * additional thread starts.
 *
 * <p>Thread-safe.
 */
final class ChannelThreads {
  private static final int IDLE_SECONDS = 60;
  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final Scheduler scheduler;
  private final Consumer<Throwable> failed;
  private final int usual = Runtime.getRuntime().availableProcessors();

  // Guarded by the lock of this object.
  private final Deque<Ready> ready = new ArrayDeque<>();
  private int threads;
  // The number of scheduled threads that have not begun to run channels.
  private int starting;
  private boolean watched;

  private record Ready(Runnable channel, long sinceNanos) {}

  /**
   * @param scheduler from {@link #scheduler}
   * @param failed receives the exceptions of channels
   */
  ChannelThreads(Scheduler scheduler, Consumer<Throwable> failed) {
    this.scheduler = scheduler;
    this.failed = failed;
  }

  /** Creates a scheduler for a number of channels. */
  static Scheduler scheduler(int channels) {
    return Schedulers.newBoundedElastic(
        channels + 1, Integer.MAX_VALUE, "onehop-channel", IDLE_SECONDS, true);
  }

  /** Runs a channel soon. Does nothing after the scheduler is disposed. */
  synchronized void run(Runnable channel) {
    ready.add(new Ready(channel, System.nanoTime()));
    if (threads < usual) {
      start();
    } else if (!watched) {
      watchSoon();
    }
  }

  private void start() {
    threads++;
    starting++;
    try {
      scheduler.schedule(this::work);
    } catch (RejectedExecutionException disposed) {
      ready.clear();
    }
  }

  private void work() {
    synchronized (this) {
      starting--;
    }
    try {
      for (Ready next = next(); next != null; next = next()) {
        Calls.run(next.channel, failed);
      }
    } finally {
      ended();
    }
  }

  private synchronized @Nullable Ready next() {
    return ready.poll();
  }

  /** Called when a thread ends. Starts another thread if channels are ready. */
  private synchronized void ended() {
    threads--;
    if (!ready.isEmpty() && threads < usual) {
      start();
    }
  }

  private void watchSoon() {
    watched = true;
    try {
      scheduler.schedule(this::watch, PATIENCE_NANOS, TimeUnit.NANOSECONDS);
    } catch (RejectedExecutionException disposed) {
      ready.clear();
    }
  }

  /** Starts one additional thread for each channel that has waited too long. */
  private synchronized void watch() {
    watched = false;
    long now = System.nanoTime();
    int late = -starting;
    for (Ready each : ready) {
      if (now - each.sinceNanos >= PATIENCE_NANOS) {
        late++;
      }
    }
    for (; late > 0; late--) {
      start();
    }
    if (!ready.isEmpty()) {
      watchSoon();
    }
  }
}
