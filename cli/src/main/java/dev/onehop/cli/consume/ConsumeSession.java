package dev.onehop.cli.consume;

import dev.onehop.cli.Failure;
import dev.onehop.cli.Terminal;
import dev.onehop.cli.bench.BenchSession;
import dev.onehop.cli.bench.Cluster;
import dev.onehop.cli.bench.ClusterSession;
import dev.onehop.cli.bench.ClusterSource;
import dev.onehop.cli.bench.Machine;
import dev.onehop.cli.bench.Progress;
import dev.onehop.cli.results.ConsumeResults;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A run of {@code onehop consume} on the cluster of its session. */
public final class ConsumeSession {

  private final ClusterSource source;
  private final ConsumePlan plan;
  private final boolean oneClock;
  private final Path folder;
  private final Path home;
  private final String command;
  private final Terminal terminal;
  private @Nullable ConsumeRun run;

  /**
   * Prepares a run.
   *
   * @param source where the cluster comes from
   * @param oneClock whether its servers run on this machine and so have its clock
   * @param folder where results and logs go
   * @param home the project's folder, for its revision
   * @param command the command line that repeats the run
   */
  public ConsumeSession(
      ClusterSource source,
      ConsumePlan plan,
      boolean oneClock,
      Path folder,
      Path home,
      String command,
      Terminal terminal) {
    this.source = source;
    this.plan = plan;
    this.oneClock = oneClock;
    this.folder = folder;
    this.home = home;
    this.command = command;
    this.terminal = terminal;
  }

  /** Runs it. Returns why it ended early, or null. */
  public @Nullable Failure run() {
    String started = BenchSession.now();
    return new ClusterSession(
            source, terminal, (opened, progress) -> prepare(opened, progress, started))
        .run();
  }

  private ClusterSession.Work prepare(Cluster opened, Progress progress, String started) {
    ConsumeRun next =
        new ConsumeRun(
            plan, opened, oneClock, progress, folder, Machine.facts(home), started, command);
    synchronized (this) {
      run = next;
    }
    return next;
  }

  /** What was found; null if the run did not get as far as having a cluster. */
  public synchronized @Nullable ConsumeResults results() {
    return run == null ? null : run.results();
  }
}
