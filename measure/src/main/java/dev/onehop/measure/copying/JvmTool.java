package dev.onehop.measure.copying;

import dev.onehop.copy.ClusterCopy;
import dev.onehop.copy.ClusterCopy.Begin;
import dev.onehop.copy.progress.CopyPhase;
import dev.onehop.measure.frame.ProcessUse;
import dev.onehop.measure.results.CopyBenchRun;
import dev.onehop.resync.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import org.bson.BsonTimestamp;

/**
 * Controls OneHop or the plain driver in a {@link ToolMain} process. One process makes all copies
 * between two clusters, so that its code is already compiled after the first copy.
 */
record JvmTool(CopyTool tool, CopyEnd source, CopyEnd destination, ChildJvm process)
    implements ToolProcess.Copier, ToolProcess.Verifier {
  private static final Duration PATIENCE = Duration.ofHours(2);

  /**
   * Turns the optimizing compiler off if there are only a few small copies. This compiler would
   * take processor time from the copies.
   */
  private static final List<String> QUICK_COMPILER = List.of("-XX:TieredStopAtLevel=1");

  /** The options of {@code bin/onehop copy}. */
  private static final List<String> COPY = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseParallelGC");

  /**
   * Starts the process.
   *
   * @param plan the plan of the bench; its kinds and its size decide the options of the JVM
   * @param logs the folder for the process's error output
   */
  static JvmTool start(
      CopyTool tool, CopyEnd source, CopyEnd destination, CopyBenchPlan plan, Path logs)
      throws IOException {
    boolean one = tool == CopyTool.DRIVER;
    ToolMain.Task task =
        new ToolMain.Task(
            tool,
            one ? source.urlOfOne() : source.url(),
            one ? destination.urlOfOne() : destination.url());
    return new JvmTool(
        tool,
        source,
        destination,
        ChildJvm.start(
            "the copy of " + tool.label(),
            options(tool, plan),
            ToolMain.class,
            task,
            logs,
            line -> false));
  }

  private static List<String> options(CopyTool tool, CopyBenchPlan plan) {
    if (tool == CopyTool.ONEHOP && !plan.kinds().contains(CopyBenchRun.VERIFY)) {
      return COPY;
    }
    return plan.quick() ? QUICK_COMPILER : List.of();
  }

  /**
   * Creates the collections at the destination. OneHop creates them, also for copies by the plain
   * driver.
   */
  @Override
  public void prepare() throws InterruptedException {
    try (ClusterCopy copy =
        OneHopCopy.copy(
            tool,
            source.url(),
            destination.url(),
            Begin.OVERWRITE,
            EnumSet.of(CopyPhase.STRUCTURE))) {
      copy.run();
    }
  }

  private void run(String command) throws InterruptedException {
    process.send(command);
    var unused = process.await(ToolMain.OK, PATIENCE);
  }

  @Override
  public void full(List<String> collections) throws InterruptedException {
    run("full " + String.join(" ", collections));
  }

  @Override
  public void follow(BsonTimestamp since) throws InterruptedException {
    run("follow " + since.getValue());
  }

  @Override
  public void await(long changes) throws InterruptedException {
    run("await " + changes);
  }

  @Override
  public void unfollow() throws InterruptedException {
    run("unfollow");
  }

  @Override
  public void verify(List<String> collections) throws InterruptedException {
    run("verify");
  }

  @Override
  public ProcessUse use() {
    return ProcessUse.of(process.handle());
  }

  @Override
  public void close() {
    process.close();
  }
}
