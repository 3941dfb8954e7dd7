package dev.onehop.measure.copying;

import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.ClusterCopy.Begin;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.verify.ClusterVerification;
import dev.onehop.copy.verify.VerifyReport;
import dev.onehop.measure.frame.Parallel;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/** {@link CopyTool#ONEHOP}. */
final class OneHopCopy implements CopyToolRun {
  private final String from;
  private final String to;
  private @Nullable ClusterCopy following;
  private @Nullable Thread thread;
  private volatile @Nullable RuntimeException failure;

  OneHopCopy(String from, String to) {
    this.from = from;
    this.to = to;
  }

  /**
   * A copy of everything into the database of a tool.
   *
   * @param from the source's URL
   * @param to the destination's URL
   */
  static ClusterCopy copy(
      CopyTool tool, String from, String to, Begin begin, Set<CopyPhase> phases) {
    return ClusterCopy.builder(from, to)
        .job(tool.label())
        .include(List.of(Workload.DATABASE))
        .rename(Workload.DATABASE, tool.database())
        .begin(begin)
        .phases(phases)
        .build();
  }

  private ClusterCopy copy(Set<CopyPhase> phases) {
    return copy(CopyTool.ONEHOP, from, to, Begin.RESUME, phases);
  }

  @Override
  public void full(List<String> collections) throws InterruptedException {
    try (ClusterCopy copy = copy(EnumSet.of(CopyPhase.FULL))) {
      copy.run();
    }
  }

  @Override
  public void follow(BsonTimestamp since) {
    ClusterCopy copy = copy(EnumSet.of(CopyPhase.INDEXES, CopyPhase.INCREMENTAL));
    Thread runner =
        new Thread(
            () -> {
              try {
                copy.run();
              } catch (InterruptedException e) {
                // the copy was closed
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
    Parallel.join(List.of(Objects.requireNonNull(thread)));
  }

  /** Compares a source with the copy of a tool. */
  static VerifyReport compare(String from, String to, CopyTool tool) throws InterruptedException {
    return ClusterVerification.builder(from, to)
        .include(List.of(Workload.DATABASE))
        .rename(
            tool.database().equals(Workload.DATABASE)
                ? Map.of()
                : Map.of(Workload.DATABASE, tool.database()))
        .build()
        .run();
  }

  /** Compares source and destination. */
  void verify() throws InterruptedException {
    VerifyReport report = compare(from, to, CopyTool.ONEHOP);
    if (!report.isEqual()) {
      throw new IllegalStateException("source and destination differ: " + report.metadata());
    }
  }

  @Override
  public void close() {}
}
