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
 * Renews a job's lease while the job is worked on, and reads requests for a pause. If another
 * process owns the job, or if the lease can't be renewed, it interrupts the working thread.
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

  /** The work on the job. */
  interface Work {
    /** Runs until the work is done. */
    void run() throws InterruptedException;
  }

  /**
   * Runs the work in this thread. Called once.
   *
   * @throws CopyException if another process owns the job
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

  /**
   * Waits for the end of the thread that renews the lease. That thread may interrupt the working
   * thread after the work has ended. The interruption is cleared, so that it does not interrupt
   * later steps.
   */
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
              : new CopyException("the lease can't be renewed: " + Waits.reason(failure), failure));
      worker.interrupt();
    }
  }
}
