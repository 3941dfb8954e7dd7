package dev.onehop.measure.frame;

import com.mongodb.MongoException;
import dev.onehop.measure.frame.Bench.Cell;
import dev.onehop.measure.frame.Bench.Measured;
import dev.onehop.measure.results.Envelope;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.RoundTripCheck;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.RunResults;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.TopologyFacts;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Interruption;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A run of a {@link Bench}. It opens the cluster, measures the cells one after the other, writes
 * {@code results.json} after each cell, and closes the cluster. The end of a server, or a signal
 * that stops the JVM, interrupts the thread of the bench. The results of finished cells stay. One
 * thread uses a session, once.
 */
public final class Session {

  private static final long NOTICE_MILLIS = 1500;

  private final @Nullable ClusterSource source;
  private final RunContext context;
  private final Progress progress;
  private final BlockingQueue<String> serverDeaths = new LinkedBlockingQueue<>();
  private final Thread runner = Thread.currentThread();
  private volatile boolean measuring = true;
  private @Nullable BenchCluster cluster;
  private @Nullable String stopReason;
  private boolean complete;
  private double estimatedMillis;
  private double tookMillis;

  private Session(@Nullable ClusterSource source, RunContext context, Progress progress) {
    this.source = source;
    this.context = context;
    this.progress = progress;
  }

  /**
   * The result of a run.
   *
   * @param results the results; null if the run ended before it had results
   * @param failure the reason of an early end; null if the run did not end early
   */
  public record Outcome<R>(@Nullable R results, @Nullable Failure failure) {}

  /**
   * Runs a bench to its end, or until the calling thread is interrupted.
   *
   * @param source the source of the cluster; null for a bench that starts its own servers
   * @param context the folder of the results, and the facts of the run
   */
  public static <C extends Cell, P, R extends RunResults> Outcome<R> run(
      Bench<C, P, R> bench, @Nullable ClusterSource source, RunContext context) {
    try (Progress progress = Progress.start()) {
      return new Session(source, context, progress).run(bench);
    }
  }

  private <C extends Cell, P, R extends RunResults> Outcome<R> run(Bench<C, P, R> bench) {
    List<Measured<C, P>> measured = new ArrayList<>();
    try {
      Failure failure = measure(bench, measured);
      return new Outcome<>(keep(bench, measured), failure);
    } finally {
      try {
        bench.close();
      } finally {
        close();
      }
    }
  }

  private <C extends Cell, P, R extends RunResults> @Nullable Failure measure(
      Bench<C, P, R> bench, List<Measured<C, P>> measured) {
    try {
      if (Interruption.isStopping()) {
        throw new InterruptedException();
      }
      if (source != null) {
        cluster = source.open(progress);
        cluster.onServerDeath(this::serverDied);
        RoundTripCheck.require(cluster.topology(), warning -> progress.note("note: " + warning));
      }
      bench.prepare(this);
      List<C> cells = bench.cells();
      for (int i = 0; i < cells.size(); i++) {
        measured.add(measure(bench, cells, i));
        if (i + 1 < cells.size()) { // the results after the last cell are written at the end
          R unused = keep(bench, measured);
        }
      }
      complete = true;
      return null;
    } catch (MongoException e) {
      return ended(
          cluster == null
              ? Failure.of(e)
              : Failure.run("cannot use " + cluster.url() + ": " + Failure.firstLine(e), e));
    } catch (IOException | InterruptedException | RuntimeException e) {
      return ended(Failure.of(e));
    }
  }

  private <C extends Cell, P, R extends RunResults> @Nullable R keep(
      Bench<C, P, R> bench, List<Measured<C, P>> measured) {
    R results = bench.results(measured, this);
    if (results != null) {
      ResultsFile.write(context.out(), results);
    }
    return results;
  }

  private <C extends Cell, P> Measured<C, P> measure(Bench<C, P, ?> bench, List<C> cells, int i)
      throws IOException, InterruptedException {
    C cell = cells.get(i);
    Duration left = Duration.ZERO;
    for (C next : cells.subList(i, cells.size())) {
      left = left.plus(bench.estimate(next, this));
    }
    // The real times of the earlier cells correct the estimates of the remaining cells.
    double correction = estimatedMillis == 0 ? 1 : tookMillis / estimatedMillis;
    if (!left.isZero()) {
      progress.remaining(Duration.ofMillis((long) (left.toMillis() * correction)));
    }
    progress.point(i + 1, cells.size(), cell.title());
    long begun = System.nanoTime();
    P point = bench.measure(cell, this);
    progress.state("");
    estimatedMillis += bench.estimate(cell, this).toMillis();
    tookMillis += (System.nanoTime() - begun) / 1e6;
    return new Measured<>(cell, point);
  }

  /**
   * Returns the cause of a failure: the end of a server, if there was one, or the failure itself.
   * The end of a server may be detected a little later than failures of operations, so this method
   * waits a short time for it.
   */
  private Failure causeOf(Failure failure) {
    try {
      String death = serverDeaths.poll(NOTICE_MILLIS, TimeUnit.MILLISECONDS);
      return death == null ? failure : Failure.run(death, failure);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return failure;
    }
  }

  /** Notes the early end of the run, and returns its reason. */
  private Failure ended(Failure failure) {
    measuring = false;
    boolean unused = Thread.interrupted(); // an interrupt must not stop the writing of the results
    Failure cause = Interruption.isStopping() ? Failure.interrupted() : causeOf(failure);
    stopReason = Failure.firstLine(cause);
    return cause;
  }

  /**
   * Ends the run after the unexpected end of a server. Thread-safe.
   *
   * @param message names the server and the kind of its end
   */
  public void serverDied(String message) {
    serverDeaths.add(message);
    if (measuring) {
      runner.interrupt();
    }
  }

  private void close() {
    if (source != null && cluster != null) {
      if (source.startsServers()) {
        progress.remaining(null);
        progress.phase("stopping servers");
      }
      cluster.close();
    }
  }

  /**
   * The measured cluster.
   *
   * @throws NullPointerException for a bench that starts its own servers
   */
  public BenchCluster cluster() {
    return Objects.requireNonNull(cluster);
  }

  /** The progress display. */
  public Progress progress() {
    return progress;
  }

  /** The folder of the results and logs. */
  public Path folder() {
    return context.out();
  }

  /**
   * Returns the facts of the run on the session's cluster, for the run's results.
   *
   * @param points the number of planned points, each counted once for all its rounds
   * @param load the loaded data and the kind of measurement
   */
  public Envelope envelope(int points, RunFacts.Load load) {
    return envelope(points, load, cluster().topology(), cluster().server());
  }

  /**
   * Returns the facts of the run for a bench that starts its own servers.
   *
   * @param topology the hosts of these servers
   * @param server the versions of these servers
   */
  public Envelope envelope(
      int points, RunFacts.Load load, TopologyFacts topology, ServerFacts server) {
    RunFacts facts =
        new RunFacts(context.started(), context.command(), complete, stopReason, points, load);
    return new Envelope(facts, topology, server, context.machine());
  }
}
