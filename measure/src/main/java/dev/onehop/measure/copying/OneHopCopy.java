package dev.onehop.measure.copying;

import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.ClusterCopy.Begin;
import dev.onehop.copy.progress.CopyPhase;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/** {@link CopyTool#OURS}. */
final class OneHopCopy implements CopyToolRun {
  private final ToolTask task;
  private @Nullable ClusterCopy following;
  private @Nullable Thread thread;
  private volatile @Nullable RuntimeException failure;

  OneHopCopy(ToolTask task) {
    this.task = task;
  }

  /**
   * A copy of everything into the database of a way.
   *
   * @param from the source's URL
   * @param to the destination's URL
   */
  static ClusterCopy copy(CopyTool way, String from, String to, Begin begin, Set<CopyPhase> phases) {
    return ClusterCopy.builder(from, to)
        .job(way.label())
        .include(List.of(Workload.DATABASE))
        .rename(Workload.DATABASE, way.label())
        .begin(begin)
        .phases(phases)
        .build();
  }

  private ClusterCopy copy(Set<CopyPhase> phases) {
    return copy(CopyTool.OURS, task.from(), task.to(), Begin.RESUME, phases);
  }

  @Override
  public void full(List<String> collections) throws InterruptedException {
    try (ClusterCopy copy = copy(EnumSet.of(CopyPhase.FULL))) {
      copy.run();
    }
  }

  @Override
  public void follow(BsonTimestamp start) {
    ClusterCopy copy = copy(EnumSet.of(CopyPhase.INDEXES, CopyPhase.INCREMENTAL));
    Thread runner =
        new Thread(
            () -> {
              try {
                copy.run();
              } catch (InterruptedException e) {
                // Ended.
              } catch (RuntimeException e) {
                failure = e;
              }
            },
            "copy");
    following = copy;
    thread = runner;
    runner.start();
  }

  @Override
  public long applied() {
    RuntimeException failed = failure;
    if (failed != null) {
      throw failed;
    }
    return Objects.requireNonNull(following).progress().eventsApplied();
  }

  @Override
  public void unfollow() {
    Objects.requireNonNull(following).close();
    try {
      Objects.requireNonNull(thread).join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {}
}
