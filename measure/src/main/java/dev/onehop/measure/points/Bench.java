package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.RoundTripCheck;
import dev.onehop.measure.frame.ServerDeath;
import dev.onehop.measure.results.ClientRun;
import dev.onehop.measure.results.MachineFacts;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Ratios;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.ResultsFile;
import dev.onehop.measure.results.RouterCost;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.RunFacts.Placement;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import dev.onehop.ycsb.KeyPopulation;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * A bench run against a running cluster: splits and loads the collection, checks where the
 * documents are, measures the points. Writes {@code results.json} after each point, so that a run
 * which ends early leaves what it has.
 */
public final class Bench {

  /** What a range of a shard is split into; more than one, so that routing tables are real. */
  private static final int CHUNKS_PER_SHARD = 4;

  /** How long answers are waited for at the end of a rate. */
  private static final Duration DRAIN = Duration.ofSeconds(10);

  /** Above it no rate is issued, in operations per second. */
  public static final double MOST_RATE = 100_000;

  private final BenchPlan plan;
  private final ClientPlan clients;
  private final Workload workload;
  private final BenchCluster cluster;
  private final Progress progress;
  private final PointRunner runner;
  private final YcsbRunner ycsbRunner;
  private final @Nullable ScenarioRun scenario;
  private final Path out;
  private final MachineFacts machine;
  private final @Nullable String processors;
  private final String started;
  private final String command;
  private final Map<PointPlan, List<Point>> measured = new LinkedHashMap<>();
  private final Map<PointPlan, List<ScenarioEntry>> atRates = new LinkedHashMap<>();
  private int scenarioClients;
  private @Nullable Placement placement;
  private @Nullable String stopReason;
  private final ServerDeath death = new ServerDeath();

  Bench(
      BenchPlan plan,
      ClientPlan clients,
      Workload workload,
      BenchCluster cluster,
      YcsbCommand ycsb,
      Progress progress,
      Path out,
      MachineFacts machine,
      @Nullable String processors,
      String started,
      String command) {
    this.plan = plan;
    this.clients = clients;
    this.workload = workload;
    this.cluster = cluster;
    this.progress = progress;
    this.ycsbRunner = new YcsbRunner(progress);
    ScenarioRun.Surroundings around = new ScenarioRun.Surroundings(ycsb, ycsbRunner, out);
    this.runner = new PointRunner(plan, clients, workload, cluster, around, progress);
    ScenarioPlan asked = plan.scenario();
    this.scenario =
        asked == null
            ? null
            : ScenarioRun.of(asked, plan.modes(), clients.count(), cluster, around);
    this.out = out;
    this.machine = machine;
    this.processors = processors;
    this.started = started;
    this.command = command;
  }

  /**
   * Runs it all.
   *
   * @throws Failure if it can't be finished; {@link #results} has what was found until then
   */
  void run() {
    try {
      List<String> off = RoundTripCheck.violations(cluster.topology());
      if (!off.isEmpty()) {
        throw Failure.run("round trips are not as configured: " + String.join("; ", off), null);
      }
      prepare();
      measure();
      if (scenario != null) {
        run(scenario);
      }
    } catch (IOException | InterruptedException | RuntimeException e) {
      throw fail(Failure.of(e));
    }
  }

  private void prepare() throws IOException, InterruptedException {
    KeyPopulation keys = workload.keys();
    int shards = cluster.shardHosts().size();
    if (clients.isFirst()) {
      progress.phase("sharding " + workload.collection());
      cluster.shard(
          workload.collection(),
          keys.splitPoints(shards * CHUNKS_PER_SHARD).stream().map(BsonString::new).toList());
    }
    progress.phase("loading " + plan.records() + " documents");
    runner.load();
    if (!clients.isPart()) { // The others may still be loading.
      progress.phase("checking every document's place");
      placement = cluster.placement(workload.collection(), plan.records());
    }
    progress.phase("warming up the routers");
    cluster.warmUp(workload.collection());
  }

  private void measure() throws IOException, InterruptedException {
    List<PointPlan> plans = plan.measurements();
    TimeLeft timeLeft = new TimeLeft(plan, plans, cluster.meanShardRoundTripMillis());
    for (int i = 0; i < plans.size(); i++) {
      PointPlan next = plans.get(i);
      progress.remaining(timeLeft.from(i).plus(scenarioTime(0)));
      progress.point(i + 1, plans.size(), next.title());
      long begun = System.nanoTime();
      if (next.rate() == null) {
        add(next, runner.measure(next, timeLeft.estimate(i)));
      } else {
        ScenarioEntry entry = runner.measureRate(next, ScenarioEntry.RATE, DRAIN);
        synchronized (this) {
          atRates.computeIfAbsent(next.inRound(0), first -> new ArrayList<>()).add(entry);
          ResultsFile.write(out, results());
        }
      }
      timeLeft.took(i, Duration.ofNanos(System.nanoTime() - begun));
    }
  }

  /** How long the scenario's clients take from one of them on; none if there is no scenario. */
  private Duration scenarioTime(int from) {
    ScenarioPlan asked = plan.scenario();
    return asked == null
        ? Duration.ZERO
        : ScenarioRun.estimate(asked).multipliedBy(asked.count(plan.modes()) - from);
  }

  private void run(ScenarioRun asked) throws IOException, InterruptedException {
    List<String> titles = asked.titles();
    for (int i = 0; i < titles.size(); i++) {
      progress.remaining(scenarioTime(i));
      progress.client(i + 1, titles.size(), titles.get(i));
      asked.run(i);
      synchronized (this) {
        scenarioClients++;
        ResultsFile.write(out, results());
      }
    }
  }

  private synchronized void add(PointPlan planned, Point point) {
    measured.computeIfAbsent(planned.inRound(0), first -> new ArrayList<>()).add(point);
    ResultsFile.write(out, results());
    if (point.errors() > 0) {
      progress.note(
          planned.title() + ": " + point.errors() + " operations FAILED: " + point.failures());
    }
  }

  private Failure fail(Failure failure) {
    Failure cause = death.causeOf(failure);
    synchronized (this) {
      if (stopReason == null) {
        stopReason = Failure.firstLine(cause);
      }
      ResultsFile.write(out, results());
    }
    return cause;
  }

  /** A server of the cluster ended by itself: ends the run. Callable from any thread. */
  void serverDied(String message) {
    death.noticed(message);
    stop();
  }

  /** Ends the run from outside, keeping the finished points. Callable from any thread. */
  void interrupt() {
    synchronized (this) {
      stopReason = "interrupted";
    }
    stop();
    ResultsFile.write(out, results());
  }

  private void stop() {
    ycsbRunner.stop();
  }

  /** What was found so far. */
  synchronized Results results() {
    // They ran in a random order.
    List<Point> points = new ArrayList<>();
    ScenarioRun.Findings found = new ScenarioRun.Findings();
    if (scenario != null && scenarioClients > 0) {
      scenario.addTo(found);
    }
    List<ScenarioEntry> scenarios = found.entries;
    for (PointPlan planned : plan.points()) {
      if (measured.containsKey(planned)) {
        points.add(Point.median(measured.get(planned)));
      }
      if (atRates.containsKey(planned)) {
        scenarios.add(ScenarioEntry.median(atRates.get(planned)));
      }
    }
    int done =
        measured.values().stream().mapToInt(List::size).sum()
            + atRates.values().stream().mapToInt(List::size).sum()
            + scenarioClients;
    int clientsPlanned = scenario == null ? 0 : scenario.titles().size();
    return new Results(
        new RunFacts(
            started,
            command,
            done == plan.measurements().size() + clientsPlanned,
            stopReason,
            plan.points().size() + clientsPlanned,
            plan.records(),
            workload.name(),
            plan.properties(),
            placement,
            cluster.missing(),
            plan.rounds(),
            plan.seed(),
            processors,
            plan.experiment()),
        cluster.topology(),
        cluster.server().router().isStandIn()
            ? cluster.server().withCost(RouterCost.of(points))
            : cluster.server(),
        machine,
        points,
        scenarios,
        found.timelines,
        Ratios.of(points, scenarios, plan.seed()),
        found.zones,
        clients(points),
        found.fleets);
  }

  /** The clients behind the rounds that are shown. */
  private List<ClientRun> clients(List<Point> points) {
    return runner.clientRuns().stream()
        .filter(run -> points.stream().anyMatch(point -> point.folder().equals(run.folder())))
        .toList();
  }
}
