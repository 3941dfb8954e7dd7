package dev.onehop.measure.points;

import dev.onehop.measure.bench.ClusterSession;
import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.ClusterSource;
import dev.onehop.measure.frame.Machine;
import dev.onehop.measure.frame.Processors;
import dev.onehop.measure.frame.RunContext;
import dev.onehop.measure.report.Report;
import dev.onehop.measure.results.Results;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import dev.onehop.resync.Terminal;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A bench run on the cluster of its session. */
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
    String started = RunContext.now();
    return new ClusterSession(
            source, terminal, (opened, progress) -> prepare(opened, progress, started))
        .run();
  }

  private ClusterSession.Work prepare(BenchCluster opened, Progress progress, String started) {
    announce(opened, progress);
    Processors processors = opened.processors();
    YcsbSecrets secrets = YcsbSecrets.of(opened.url());
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
    return new Benching(next, secrets);
  }

  private void announce(BenchCluster opened, Progress progress) {
    ScenarioPlan scenario = plan.scenario();
    int points = plan.points().size();
    Duration estimate = plan.estimate(opened.meanShardRoundTripMillis());
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
  }

  /**
   * Where distances limit the rate, or processors are few, the optimizing compiler is still at work
   * when a short warm-up is over, and takes the processors away from what is measured: on two of
   * them, some 15 s into a point.
   */
  private boolean quickCompilerOnly(BenchCluster opened) {
    boolean slow = opened.isFar() || Runtime.getRuntime().availableProcessors() <= 2;
    return slow && !plan.hasLongWarmup();
  }

  /** What was found; null if the run did not get as far as having a cluster. */
  public synchronized @Nullable Results results() {
    return bench == null ? null : bench.results();
  }

  /** The bench as a session's work. */
  private final class Benching implements ClusterSession.Work {
    private final Bench bench;
    private final YcsbSecrets secrets;

    Benching(Bench bench, YcsbSecrets secrets) {
      this.bench = bench;
      this.secrets = secrets;
    }

    @Override
    public void run() {
      try (secrets) {
        bench.run();
      }
    }

    @Override
    public String interrupt() {
      bench.interrupt();
      Results results = bench.results();
      Report.write(folder, results);
      return results.points().size() + " finished points are in " + folder.resolve("results.json");
    }

    @Override
    public void serverDied(String message) {
      bench.serverDied(message);
    }
  }
}
