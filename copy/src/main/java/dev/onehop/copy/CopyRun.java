package dev.onehop.copy;

import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.full.Counts;
import dev.onehop.copy.internal.full.Limits;
import dev.onehop.copy.internal.state.Job;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyProgress;
import dev.onehop.routing.RoutingMode;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One run of a copy: takes the job and runs its phases. */
final class CopyRun {
  private static final Logger log = LoggerFactory.getLogger(CopyRun.class);
  private static final int THREADS = 2;

  private final CopySettings settings;
  private final Counts counts = new Counts();
  private final Limits limits;
  private final ProgressMeter meter;
  private final AtomicBoolean begun = new AtomicBoolean();
  private @Nullable Thread runner; // guarded by this
  private boolean closed; // guarded by this

  CopyRun(CopySettings settings) {
    this.settings = settings;
    this.limits = new Limits(settings.documentsPerSecond(), settings.bytesPerSecond());
    this.meter = new ProgressMeter(settings.job(), counts, System::nanoTime);
  }

  CopyProgress progress() {
    return meter.progress();
  }

  synchronized void close() {
    closed = true;
    if (runner != null) {
      runner.interrupt();
    }
  }

  private void note(String text) {
    log.info("{}", text);
    meter.note(text);
  }

  void run() throws InterruptedException {
    if (!begun.compareAndSet(false, true)) {
      throw new IllegalStateException("a copy can run only once");
    }
    begin();
    try (ClusterEnd source =
            ClusterEnd.connect(
                "source", settings.from(), settings.fromSettings(), RoutingMode.NONE, THREADS);
        ClusterEnd destination =
            ClusterEnd.connect(
                "destination",
                settings.to(),
                settings.toSettings(),
                RoutingMode.TARGETED,
                THREADS)) {
      run(source, destination);
    } catch (CopyException known) {
      throw known;
    } catch (RuntimeException failure) {
      throw new CopyException(Waits.reason(failure), failure);
    } finally {
      end();
    }
  }

  private synchronized void begin() throws InterruptedException {
    if (closed) {
      throw new InterruptedException();
    }
    runner = Thread.currentThread();
  }

  /**
   * After this, {@link #close} no longer interrupts the thread. If it has interrupted the thread
   * too late, the interruption is cleared, so that it does not interrupt the caller's later steps.
   */
  private synchronized void end() {
    runner = null;
    if (closed) {
      var unused = Thread.interrupted();
    }
  }

  private void run(ClusterEnd source, ClusterEnd destination) throws InterruptedException {
    JobStart start = JobStart.of(source, destination, settings, this::note);
    Job job = start.begin();
    Phases phases =
        new Phases(source, destination, start.settings(), job, limits, counts, meter, this::note);
    try {
      new LeaseKeeping(job, settings.lease(), limits, meter).during(phases::run);
      // The job is released only after LeaseKeeping has ended. Otherwise LeaseKeeping could try to
      // renew the lease of the released job, and would fail.
      release(job);
    } catch (InterruptedException e) {
      release(job);
      throw e;
    }
  }

  /** Releases the job, so that another process does not wait for the end of its lease. */
  private static void release(Job job) throws InterruptedException {
    try {
      job.release();
    } catch (RuntimeException failure) {
      log.debug("the job can't be released, and stays owned until its lease ends", failure);
    }
  }
}
