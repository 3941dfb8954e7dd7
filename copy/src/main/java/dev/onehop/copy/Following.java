package dev.onehop.copy;

import dev.onehop.copy.internal.apply.Applier;
import dev.onehop.copy.internal.apply.ApplyStatus;
import dev.onehop.copy.internal.cluster.ClusterEnd;
import dev.onehop.copy.internal.cluster.EndCheck;
import dev.onehop.copy.internal.cluster.Waits;
import dev.onehop.copy.internal.state.Job;
import dev.onehop.copy.progress.CopyException;
import dev.onehop.copy.progress.CopyPhase;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.bson.BsonObjectId;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** Applies the changes of the source until the job is requested to finish. */
final class Following {
  private static final long LOOK_MILLIS = 500;
  private static final Duration LEAVING = Duration.ofSeconds(5);
  private static final Duration STATUS_TIMEOUT = Duration.ofSeconds(10);

  private final Applier applier;
  private final Job job;
  private final ProgressMeter meter;
  private final BsonTimestamp readUntil;
  private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

  Following(
      ClusterEnd source,
      ClusterEnd destination,
      CopySettings settings,
      Job job,
      ProgressMeter meter)
      throws InterruptedException {
    this.job = job;
    this.meter = meter;
    this.readUntil = (BsonTimestamp) job.required("readUntil");
    boolean creations = EndCheck.tellsCreations(source);
    if (!creations) {
      meter.note(
          "servers of the source are older than 6.0, and do not report new collections and"
              + " indexes: do not create collections or indexes until the copy is finished");
    }
    this.applier =
        new Applier(
            new Applier.Settings(
                source.settings(),
                source.client(),
                destination.client(),
                destination.database(ClusterCopy.STATE_DATABASE),
                // The name contains the incarnation, so that a later job of the same name does not
                // use this state.
                name(settings.job(), job.incarnation()),
                (BsonTimestamp) job.required("start"),
                settings.mapping(),
                settings.operations(),
                creations,
                Applier.Pace.USUAL));
  }

  /** The name of the applier of a job. */
  static String name(String job, BsonObjectId incarnation) {
    return job + "." + incarnation.getValue().toHexString();
  }

  /**
   * Applies changes until the job is finished. Returns a cluster time: all changes before this time
   * are applied.
   */
  BsonTimestamp untilFinish() throws InterruptedException {
    while (true) {
      if (job.isPaused()) {
        tellProgress();
        Thread.sleep(LOOK_MILLIS);
        continue;
      }
      failure.set(null);
      Disposable running = applier.run().subscribe(nothing -> {}, failure::set);
      BsonTimestamp finished;
      try {
        finished = whileRunning();
      } finally {
        running.dispose();
        if (failure.get() == null) {
          // Waits until the applier has stored its position, so that the next process continues
          // from this position at once.
          Waits.first(applier.ended().timeout(LEAVING).onErrorComplete());
        }
      }
      if (finished != null) {
        Waits.first(applier.ended());
        return finished;
      }
    }
  }

  /**
   * Waits while changes are applied. Returns the time that {@link #untilFinish} returns, or null if
   * the job is paused.
   */
  private @Nullable BsonTimestamp whileRunning() throws InterruptedException {
    CompletableFuture<BsonTimestamp> finished = null;
    while (true) {
      Throwable failed = failure.get();
      if (failed != null) {
        throw new CopyException("changes can't be applied: " + Waits.reason(failed), failed);
      }
      if (job.isPaused()) {
        return null;
      }
      tellProgress();
      if (finished == null && job.isToFinish()) {
        meter.phase(CopyPhase.FINISH);
        finished = applier.finish().toFuture();
      }
      if (finished != null && finished.isDone()) {
        return Waits.one(Mono.fromFuture(finished));
      }
      Thread.sleep(LOOK_MILLIS);
    }
  }

  private void tellProgress() throws InterruptedException {
    ApplyStatus status;
    try {
      status = Waits.first(applier.status().timeout(STATUS_TIMEOUT));
    } catch (RuntimeException failed) {
      if (Waits.isPassing(failed)) {
        return;
      }
      throw failed;
    }
    if (status != null) {
      BsonTimestamp exactFrom =
          status.exactFrom().compareTo(readUntil) > 0 ? status.exactFrom() : readUntil;
      meter.applied(
          status.events(),
          status.applied(),
          status.lag(),
          status.applied().compareTo(exactFrom) > 0 ? exactFrom : null);
    }
  }
}
