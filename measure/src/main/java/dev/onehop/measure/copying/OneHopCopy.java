package dev.onehop.measure.copying;

import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.ClusterCopy.Begin;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.copy.verify.ClusterVerification;
import dev.onehop.copy.verify.VerifyReport;
import dev.onehop.measure.frame.Background;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/** Runs {@link CopyTool#ONEHOP}. */
final class OneHopCopy implements CopyToolRun {
  private final String from;
  private final String to;
  private @Nullable ClusterCopy following;
  private Background thread = new Background();

  OneHopCopy(String from, String to) {
    this.from = from;
    this.to = to;
  }

  /**
   * Creates a copy of all collections into the database of a tool.
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
    following = copy;
    thread = new Background();
    thread.start("copy", copy::run);
  }

  @Override
  public long applied() {
    thread.check();
    return Objects.requireNonNull(following).progress().eventsApplied();
  }

  @Override
  public void unfollow() {
    Objects.requireNonNull(following).close();
    thread.close();
    thread.check();
  }

  /** Compares a source with a tool's copy. */
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
