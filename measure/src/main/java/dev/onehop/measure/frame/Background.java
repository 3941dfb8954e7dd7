package dev.onehop.measure.frame;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Threads that work until they are closed. A failure ends the work of its thread. The first failure
 * is kept. One thread starts and closes them.
 */
public final class Background implements AutoCloseable {

  /** The work of a thread. It ends when it is interrupted. */
  @FunctionalInterface
  public interface Work {
    /** Does the work. */
    void run() throws InterruptedException;
  }

  private final List<Thread> threads = new ArrayList<>();
  private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();
  private volatile boolean closed;
  private volatile boolean interrupted;

  /** Starts a thread. */
  public void start(String name, Work work) {
    Thread thread = new Thread(() -> run(work), name);
    thread.setDaemon(true);
    threads.add(thread);
    thread.start();
  }

  private void run(Work work) {
    try {
      work.run();
    } catch (InterruptedException e) {
      // the work was interrupted
    } catch (RuntimeException e) {
      if (!interrupted) { // the driver turns an interrupt into other exceptions
        failure.compareAndSet(null, e);
      }
    }
  }

  /** Whether the work shall end. */
  public boolean isClosed() {
    return closed;
  }

  /** Throws the first failure of a thread, if there is one. */
  public void check() {
    RuntimeException failed = failure.get();
    if (failed != null) {
      throw failed;
    }
  }

  /** Interrupts the work, and waits for its end. */
  public void interrupt() {
    interrupted = true;
    threads.forEach(Thread::interrupt);
    close();
  }

  /** Waits until the work has ended. Stops waiting if this thread is interrupted. */
  @Override
  public void close() {
    closed = true;
    Parallel.join(threads);
  }
}
