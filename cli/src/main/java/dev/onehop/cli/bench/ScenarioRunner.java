package dev.onehop.cli.bench;

import dev.onehop.cli.Failure;
import dev.onehop.cli.results.ScenarioResult;
import dev.onehop.cli.results.ScenarioResult.Line;
import dev.onehop.cli.results.ShardLatencies;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Runs a scenario, one client after the other. */
final class ScenarioRunner {
  private static final Duration MOST_CONNECTING = Duration.ofMinutes(1);

  /** Until answers are no longer waited for, and the process ends. */
  private static final Duration DRAIN = Duration.ofSeconds(45);

  private final ScenarioPlan plan;
  private final Duration warmup;
  private final Cluster cluster;
  private final YcsbCommand ycsb;
  private final Progress progress;
  private final Path out;
  private final String where;
  private @Nullable YcsbProcess running;
  private boolean stopped;

  ScenarioRunner(
      ScenarioPlan plan,
      Duration warmup,
      Cluster cluster,
      YcsbCommand ycsb,
      Progress progress,
      Path out) {
    this.plan = plan;
    this.warmup = warmup;
    this.cluster = cluster;
    this.ycsb = ycsb;
    this.progress = progress;
    this.out = out;
    this.where =
        plan.scenario().ofShard()
            ? new TreeSet<>(cluster.shardHosts().keySet()).last()
            : cluster.routers().get(0);
  }

  /** How long one client takes. */
  static Duration estimate(ScenarioPlan plan, Duration warmup) {
    return warmup.plus(plan.duration()).plusSeconds(5);
  }

  /** The result with these lines. */
  ScenarioResult result(List<Line> lines) {
    return new ScenarioResult(
        plan.scenario().label(),
        plan.scenario().fault(where),
        plan.scenario().ofShard() ? where : null,
        plan.rate(),
        plan.poisson() ? "poisson" : "constant",
        (int) plan.duration().toSeconds(),
        (int) plan.from().toSeconds(),
        (int) plan.to().toSeconds(),
        lines);
  }

  /** Runs one client. */
  Line run(PointPlan client) throws IOException, InterruptedException {
    Path folder = Files.createDirectories(out.resolve(client.folder()));
    CompletableFuture<Long> began = new CompletableFuture<>();
    YcsbProcess process;
    synchronized (this) {
      if (stopped) {
        throw Failure.interrupted();
      }
      process =
          YcsbProcess.start(
              ycsb.scenario(client, folder, warmup, plan, url()),
              folder,
              status -> {
                began.complete(System.nanoTime());
                progress.state(
                    String.format(
                        Locale.ROOT,
                        "%,d operations answered, %,.0f/s",
                        status.operations(),
                        status.currentRate()));
              });
      running = process;
    }
    long begin = await(began, process);
    sleepUntil(begin + plan.from().toNanos());
    plan.scenario().begin(cluster, where);
    try {
      sleepUntil(begin + plan.to().toNanos());
    } finally {
      plan.scenario().end(cluster, where);
    }
    YcsbOutput output = process.await(plan.duration().minus(plan.to()).plus(DRAIN), true);
    return line(client, folder, output);
  }

  /**
   * Where a mongos is lost, clients know all of them; null for those that the cluster's URL has.
   */
  private @Nullable String url() {
    return plan.scenario().ofShard()
        ? null
        : "mongodb://"
            + String.join(",", cluster.routers())
            + "/"
            + TestbedCluster.DATABASE
            + "?w=1";
  }

  private long await(CompletableFuture<Long> began, YcsbProcess process)
      throws InterruptedException {
    long end = System.nanoTime() + warmup.plus(MOST_CONNECTING).toNanos();
    while (System.nanoTime() - end < 0) {
      try {
        return began.get(500, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (!process.isAlive()) {
          break;
        }
      } catch (ExecutionException e) {
        throw new IllegalStateException(e);
      }
    }
    // It says why.
    process.await(Duration.ZERO, false);
    throw Failure.run("the client has issued nothing", null);
  }

  private static void sleepUntil(long nanos) throws InterruptedException {
    long left = nanos - System.nanoTime();
    if (left > 0) {
      TimeUnit.NANOSECONDS.sleep(left);
    }
  }

  private Line line(PointPlan client, Path folder, YcsbOutput output) {
    ShardLatencies latencies =
        ShardLatencies.read(YcsbCommand.latencies(folder), (int) plan.duration().toSeconds());
    int from = (int) plan.from().toSeconds();
    int to = (int) plan.to().toSeconds();
    return new Line(
        client.mode().label(),
        client.connections(),
        client.pipelining(),
        output.overall("Intended"),
        output.errors(),
        output.overall("NotIssued"),
        output.overall("Unanswered"),
        latencies.of(each -> !each.equals(where), from, to),
        plan.scenario().ofShard() ? latencies.of(where::equals, from, to) : null,
        client.folder());
  }

  /** Stops what runs and lets nothing more start. Callable from any thread. */
  synchronized void stop() {
    stopped = true;
    if (running != null) {
      running.stop();
    }
  }
}
