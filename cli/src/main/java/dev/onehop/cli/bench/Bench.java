package dev.onehop.cli.bench;

import dev.onehop.cli.Failure;
import dev.onehop.cli.results.MachineFacts;
import dev.onehop.cli.results.Point;
import dev.onehop.cli.results.Results;
import dev.onehop.cli.results.ResultsFile;
import dev.onehop.cli.results.RunFacts;
import dev.onehop.cli.results.RunFacts.Placement;
import dev.onehop.cli.results.ScenarioResult;
import dev.onehop.ycsb.KeyPopulation;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A bench run against a running cluster: splits and loads the collection, checks where the
 * documents are, measures the points. Writes {@code results.json} after each point, so that a run
 * which ends early leaves what it has.
 */
public final class Bench {

  /** What a range of a shard is split into; more than one, so that routing tables are real. */
  private static final int CHUNKS_PER_SHARD = 4;

  private static final long DEATH_NOTICE_MILLIS = 1500;

  private final BenchPlan plan;
  private final Workload workload;
  private final Cluster cluster;
  private final Progress progress;
  private final PointRunner runner;
  private final @Nullable ScenarioRunner scenario;
  private final Path out;
  private final MachineFacts machine;
  private final String started;
  private final String command;
  private final Map<PointPlan, List<Point>> measured = new LinkedHashMap<>();
  private final List<ScenarioResult.Line> lines = new ArrayList<>();
  private @Nullable Placement placement;
  private @Nullable String stopReason;
  private final CompletableFuture<String> serverDeath = new CompletableFuture<>();

  Bench(
      BenchPlan plan,
      Workload workload,
      Cluster cluster,
      YcsbCommand ycsb,
      Progress progress,
      Path out,
      MachineFacts machine,
      String started,
      String command) {
    this.plan = plan;
    this.workload = workload;
    this.cluster = cluster;
    this.progress = progress;
    this.runner = new PointRunner(plan, workload, cluster, ycsb, progress, out);
    ScenarioPlan asked = plan.scenario();
    this.scenario =
        asked == null
            ? null
            : new ScenarioRunner(asked, plan.warmup(), cluster, ycsb, progress, out);
    this.out = out;
    this.machine = machine;
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
      if (scenario == null) {
        measure();
      } else {
        measure(scenario);
      }
    } catch (IOException e) {
      throw fail(Failure.run(Failure.firstLine(e), e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw fail(Failure.interrupted());
    } catch (Failure e) {
      throw fail(e);
    } catch (RuntimeException e) {
      throw fail(Failure.run(Failure.firstLine(e), e));
    }
  }

  private void prepare() throws IOException, InterruptedException {
    KeyPopulation keys = workload.keys();
    int shards = cluster.shardHosts().size();
    progress.phase("sharding " + workload.collection());
    cluster.shard(workload.collection(), keys.splitPoints(shards * CHUNKS_PER_SHARD));
    progress.phase("loading " + plan.records() + " documents");
    runner.load();
    progress.phase("checking every document's place");
    placement = cluster.placement(workload.collection(), plan.records());
    progress.phase("warming up the routers");
    cluster.warmUp(workload.collection());
  }

  private void measure() throws IOException, InterruptedException {
    List<PointPlan> plans = plan.measurements();
    TimeLeft timeLeft = new TimeLeft(plan, plans, PointRunner.meanShardRoundTripMillis(cluster));
    for (int i = 0; i < plans.size(); i++) {
      PointPlan next = plans.get(i);
      progress.remaining(timeLeft.from(i));
      progress.point(i + 1, plans.size(), next.title());
      long begun = System.nanoTime();
      Point point = runner.measure(next, timeLeft.estimate(i));
      timeLeft.took(i, Duration.ofNanos(System.nanoTime() - begun));
      add(next, point);
      if (point.errors() > 0) {
        progress.note(
            next.title() + ": " + point.errors() + " operations FAILED: " + point.failures());
      }
    }
  }

  private void measure(ScenarioRunner asked) throws IOException, InterruptedException {
    List<PointPlan> clients = plan.points();
    Duration each = ScenarioRunner.estimate(Objects.requireNonNull(plan.scenario()), plan.warmup());
    for (int i = 0; i < clients.size(); i++) {
      progress.remaining(each.multipliedBy(clients.size() - i));
      progress.client(i + 1, clients.size(), clients.get(i).title());
      ScenarioResult.Line line = asked.run(clients.get(i));
      synchronized (this) {
        lines.add(line);
        ResultsFile.write(out, results());
      }
    }
  }

  private synchronized void add(PointPlan planned, Point point) {
    measured.computeIfAbsent(planned.inRound(0), first -> new ArrayList<>()).add(point);
    ResultsFile.write(out, results());
  }

  /** A server's death is the cause of whatever else failed, but may be told of a little later. */
  private Failure fail(Failure failure) {
    String death = null;
    try {
      death = serverDeath.get(DEATH_NOTICE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      // No server died.
    } catch (ExecutionException e) {
      throw new IllegalStateException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    Failure cause = death == null ? failure : Failure.run(death, failure);
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
    boolean unused = serverDeath.complete(message);
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
    runner.stop();
    if (scenario != null) {
      scenario.stop();
    }
  }

  /** What was found so far. */
  synchronized Results results() {
    List<Point> points = measured.values().stream().map(Point::median).toList();
    int done = measured.values().stream().mapToInt(List::size).sum() + lines.size();
    return new Results(
        new RunFacts(
            started,
            command,
            done == plan.measurements().size(),
            stopReason,
            plan.points().size(),
            plan.records(),
            workload.name(),
            plan.properties(),
            placement,
            cluster.missing()),
        cluster.topology(),
        cluster.server(),
        machine,
        DetourPrediction.of(cluster.topology(), cluster.shardHosts(), points),
        points,
        scenario == null ? List.of() : List.of(scenario.result(List.copyOf(lines))));
  }
}
