package dev.onehop.copy;

import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.full.Limits;
import dev.onehop.copy.internal.state.Job;
import dev.onehop.copy.progress.CopyException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;

/**
 * Renews a job's lease while it is worked on, and sees whether it is to rest. When another process
 * has the job, the work is interrupted.
 */
final class LeaseKeeping {
  private final Job job;
  private final Duration every;
  private final Limits limits;
  private final ProgressMeter meter;
  private final Thread worker = Thread.currentThread();
  private final Thread thread = new Thread(this::keep, "onehop-copy-lease");
  private final AtomicReference<@Nullable RuntimeException> lost = new AtomicReference<>();

  LeaseKeeping(Job job, Duration lease, Limits limits, ProgressMeter meter) {
    this.job = job;
    this.every = lease.dividedBy(3);
    this.limits = limits;
    this.meter = meter;
    thread.setDaemon(true);
  }

  /** Works. */
  interface Work {
    /** Works until it is done. */
    void run() throws InterruptedException;
  }

  /**
   * Works in this thread. Called once.
   *
   * @throws CopyException if another process has the job
   */
  void during(Work work) throws InterruptedException {
    thread.start();
    try {
      work.run();
    } catch (InterruptedException e) {
      RuntimeException why = lost.get();
      if (why != null) {
        throw why;
      }
      throw e;
    } finally {
      thread.interrupt();
      join();
    }
  }

  /** What comes after the work is not to meet an interruption that was meant for it. */
  private void join() throws InterruptedException {
    if (lost.get() != null) {
      var unused = Thread.interrupted();
    }
    thread.join();
    if (lost.get() != null) {
      var unused = Thread.interrupted();
    }
  }

  private void keep() {
    try {
      while (true) {
        Thread.sleep(every.toMillis());
        job.set(new BsonDocument("progress", meter.document()));
        limits.setPaused(job.isPaused());
        meter.paused(job.isPaused());
      }
    } catch (InterruptedException e) {
      // The work is done.
    } catch (RuntimeException failure) {
      lost.set(
          failure instanceof CopyException
              ? failure
              : new CopyException("the job can't be kept: " + Waits.reason(failure), failure));
      worker.interrupt();
    }
  }
}
