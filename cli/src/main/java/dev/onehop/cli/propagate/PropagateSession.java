package dev.onehop.cli.propagate;

import dev.onehop.cli.Failure;
import dev.onehop.cli.Terminal;
import dev.onehop.cli.bench.BenchSession;
import dev.onehop.cli.bench.Cluster;
import dev.onehop.cli.bench.ClusterSession;
import dev.onehop.cli.bench.ClusterSource;
import dev.onehop.cli.bench.Machine;
import dev.onehop.cli.bench.Progress;
import dev.onehop.cli.results.PropagateResults;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** A run of {@code onehop propagate} on the cluster of its session. */
public final class PropagateSession {

  private final ClusterSource source;
  private final PropagatePlan plan;
  private final @Nullable PeerAddress peer;
  private final boolean standInWaits;
  private final Path folder;
  private final Path home;
  private final String command;
  private final Terminal terminal;
  private @Nullable PropagateRun run;

  /**
   * Prepares a run.
   *
   * @param source where the cluster comes from
   * @param peer the process that listens; null for this one
   * @param standInWaits whether stand-in routers' streams wait as those of a mongos do
   * @param folder where results and logs go
   * @param home the project's folder, for its revision
   * @param command the command line that repeats the run
   */
  public PropagateSession(
      ClusterSource source,
      PropagatePlan plan,
      @Nullable PeerAddress peer,
      boolean standInWaits,
      Path folder,
      Path home,
      String command,
      Terminal terminal) {
    this.source = source;
    this.plan = plan;
    this.peer = peer;
    this.standInWaits = standInWaits;
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
    PropagateRun next =
        new PropagateRun(
            plan,
            opened,
            peer,
            standInWaits && opened.server().router().isStandIn(),
            progress,
            folder,
            Machine.facts(home),
            started,
            command);
    synchronized (this) {
      run = next;
    }
    return next;
  }

  /** What was found; null if the run did not get as far as having a cluster. */
  public synchronized @Nullable PropagateResults results() {
    return run == null ? null : run.results();
  }
}
