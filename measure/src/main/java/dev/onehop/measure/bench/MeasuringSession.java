package dev.onehop.measure.bench;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.ClusterSource;
import dev.onehop.measure.results.RunResults;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import dev.onehop.resync.Terminal;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * A run on the cluster of its session. Used once.
 *
 * @param <R> its results
 */
public final class MeasuringSession<R extends RunResults> {

  private final ClusterSource source;
  private final Terminal terminal;
  private final BiFunction<BenchCluster, Progress, MeasuringRun<R>> prepare;
  private @Nullable MeasuringRun<R> run; // guarded by this

  /**
   * Prepares it.
   *
   * @param source where the cluster comes from
   * @param prepare makes the run once the cluster is there
   */
  public MeasuringSession(
      ClusterSource source,
      Terminal terminal,
      BiFunction<BenchCluster, Progress, MeasuringRun<R>> prepare) {
    this.source = source;
    this.terminal = terminal;
    this.prepare = prepare;
  }

  /** Runs it. Returns why it ended early, or null. */
  public @Nullable Failure run() {
    return new ClusterSession(source, terminal, this::prepare).run();
  }

  private ClusterSession.Work prepare(BenchCluster opened, Progress progress) {
    MeasuringRun<R> next = prepare.apply(opened, progress);
    synchronized (this) {
      run = next;
    }
    return next;
  }

  /** What was found; null if the run did not get as far as having a cluster. */
  public synchronized @Nullable R results() {
    return run == null ? null : run.results();
  }
}
