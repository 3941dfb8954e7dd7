package dev.onehop.cli.bench;

import dev.onehop.cli.Failure;
import dev.onehop.cli.Terminal;
import dev.onehop.cli.report.Report;
import dev.onehop.cli.results.Results;
import dev.onehop.testbed.TestbedException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/**
 * A bench run with everything around it: starts the testbed, shows progress, and sees to it that
 * nothing is left behind and what was found is kept, also when the JVM gets a signal to stop.
 */
public final class BenchSession {

  private final ClusterSource source;
  private final BenchPlan plan;
  private final ClientPlan clients;
  private final Workload workload;
  private final Path folder;
  private final Path home;
  private final String command;
  private final Terminal terminal;
  private @Nullable Bench bench;
  private @Nullable Cluster cluster;
  private volatile boolean interrupted;

  /**
   * Prepares a run.
   *
   * @param source where the cluster comes from
   * @param clients the client processes that each point has
   * @param folder where results and logs go
   * @param home the project's folder, for its revision
   * @param command the command line that repeats the run
   */
  public BenchSession(
      ClusterSource source,
      BenchPlan plan,
      ClientPlan clients,
      Workload workload,
      Path folder,
      Path home,
      String command,
      Terminal terminal) {
    this.source = source;
    this.plan = plan;
    this.clients = clients;
    this.workload = workload;
    this.folder = folder;
    this.home = home;
    this.command = command;
    this.terminal = terminal;
  }

  /** Runs it. Returns why it ended early, or null. */
  public @Nullable Failure run() {
    String started =
        OffsetDateTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS).toString();
    try (Progress progress = Progress.start(terminal)) {
      Thread hook = new Thread(() -> interrupt(progress), "onehop-bench-stop");
      Runtime.getRuntime().addShutdownHook(hook);
      try {
        run(progress, started);
        return null;
      } catch (Failure e) {
        return e;
      } catch (TestbedException e) {
        return Failure.run(e.getMessage() == null ? e.toString() : e.getMessage(), e);
      } finally {
        if (interrupted) {
          // The JVM is being stopped: its hooks have the last word, not this thread.
          waitForTheEnd();
        }
        close(progress);
        removeHook(hook);
      }
    }
  }

  private void run(Progress progress, String started) {
    Cluster opened = source.open(progress);
    synchronized (this) {
      cluster = opened;
    }
    try (YcsbSecrets secrets = YcsbSecrets.of(opened.url())) {
      run(opened, secrets, progress, started);
    }
  }

  private void run(Cluster opened, YcsbSecrets secrets, Progress progress, String started) {
    ScenarioPlan scenario = plan.scenario();
    int points = plan.points().size();
    Duration estimate = plan.estimate(PointRunner.meanShardRoundTripMillis(opened));
    if (scenario != null) {
      estimate =
          estimate.plus(ScenarioRun.estimate(scenario).multipliedBy(scenario.count(plan.modes())));
    }
    progress.note(
        (points == 0
                ? ""
                : points
                    + " points, "
                    + (plan.rounds() == 1 ? "" : plan.rounds() + " times each, ")
                    + "random order of seed "
                    + plan.seed()
                    + ", ")
            + (scenario == null ? "" : "scenario " + scenario.scenario().label() + ", ")
            + "about "
            + Progress.about(estimate)
            + " in all");
    progress.remaining(estimate.plusSeconds(8));
    Processors processors = opened.processors();
    YcsbCommand ycsb =
        new YcsbCommand(
            Path.of(System.getProperty("java.home"), "bin", "java"),
            System.getProperty("java.class.path"),
            workload,
            secrets,
            quickCompilerOnly(opened),
            processors == null ? null : processors.client());
    Bench next =
        new Bench(
            plan,
            clients,
            workload,
            opened,
            ycsb,
            progress,
            folder,
            Machine.facts(home),
            processors == null ? null : processors.text(),
            started,
            command);
    synchronized (this) {
      bench = next;
    }
    opened.onServerDeath(next::serverDied);
    next.run();
  }

  /**
   * Where distances limit the rate, or processors are few, the optimizing compiler is still at work
   * when a short warm-up is over: on two processors it took half of the client's time 15 seconds
   * into a point. From {@link BenchPlan#LONG_WARMUP} on it pays: there a client of 64 threads took
   * 400 instead of 570 µs per operation.
   */
  private boolean quickCompilerOnly(Cluster opened) {
    boolean slow = opened.isFar() || Runtime.getRuntime().availableProcessors() <= 2;
    return slow && !plan.hasLongWarmup();
  }

  /** What was found; null if the run did not get as far as having a cluster. */
  public synchronized @Nullable Results results() {
    return bench == null ? null : bench.results();
  }

  /** Runs when the JVM gets a signal to stop: the testbed's own hook ends the servers. */
  private void interrupt(Progress progress) {
    interrupted = true;
    progress.close();
    Bench current;
    synchronized (this) {
      current = bench;
    }
    if (current != null) {
      current.interrupt();
      Results results = current.results();
      Report.write(folder, results);
      System.err.println(
          "onehop: interrupted; "
              + results.points().size()
              + " finished points are in "
              + folder.resolve("results.json"));
    } else {
      System.err.println("onehop: interrupted");
    }
  }

  private void close(Progress progress) {
    Cluster opened;
    synchronized (this) {
      opened = cluster;
    }
    if (opened != null) {
      progress.lastPhase("stopping servers");
      opened.close();
    }
  }

  private static void removeHook(Thread hook) {
    try {
      boolean unused = Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      // The JVM is being stopped; the hook runs.
    }
  }

  @SuppressWarnings("ThreadJoinLoop") // Not to be interrupted: the JVM ends under this thread.
  private static void waitForTheEnd() {
    while (true) {
      try {
        Thread.sleep(Long.MAX_VALUE);
      } catch (InterruptedException e) {
        // Goes on waiting.
      }
    }
  }
}
