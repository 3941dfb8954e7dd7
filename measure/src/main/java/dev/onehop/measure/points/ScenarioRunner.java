package dev.onehop.measure.points;

import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.ShardLatencies;
import dev.onehop.measure.results.Timeline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Runs a scenario with a fault. */
final class ScenarioRunner implements ScenarioRun {
  private static final Duration MOST_CONNECTING = Duration.ofMinutes(1);

  /** Until answers are no longer waited for, and the process ends. */
  private static final Duration DRAIN = Duration.ofSeconds(45);

  private final ScenarioPlan plan;
  private final List<PointPlan> clients;
  private final BenchCluster cluster;
  private final Surroundings around;
  private final String where;
  private final List<Outcome> outcomes = new CopyOnWriteArrayList<>();

  ScenarioRunner(ScenarioPlan plan, List<Mode> modes, BenchCluster cluster, Surroundings around) {
    this.plan = plan;
    this.clients = plan.contenders(modes);
    this.cluster = cluster;
    this.around = around;
    this.where =
        plan.scenario().ofShard()
            ? new TreeSet<>(cluster.shardHosts().keySet()).last()
            : cluster.routers().get(0);
  }

  /**
   * What one client did.
   *
   * @param line second by second
   * @param entries phase by phase
   */
  private record Outcome(Timeline.Line line, List<ScenarioEntry> entries) {}

  @Override
  public List<String> titles() {
    return clients.stream().map(PointPlan::title).toList();
  }

  @Override
  public void addTo(Findings findings) {
    findings.timelines.add(
        new Timeline(
            plan.scenario().label(),
            plan.scenario().fault(where),
            plan.scenario().ofShard() ? where : null,
            plan.rate(),
            plan.poisson() ? "poisson" : "constant",
            (int) plan.duration().toSeconds(),
            (int) plan.from().toSeconds(),
            (int) plan.to().toSeconds(),
            outcomes.stream().map(Outcome::line).toList()));
    outcomes.forEach(outcome -> findings.entries.addAll(outcome.entries()));
  }

  @Override
  public void run(int index) throws IOException, InterruptedException {
    PointPlan client = clients.get(index);
    Path folder = Files.createDirectories(around.out().resolve(folder(client)));
    YcsbRunner.Issuing issuing =
        around
            .runner()
            .issuing(
                folder,
                around.ycsb().scenario(client, folder, plan, url()),
                process -> {},
                plan.warmup().plus(MOST_CONNECTING));
    issuing.sleepUntil(plan.from());
    plan.scenario().begin(cluster, where);
    try {
      issuing.sleepUntil(plan.to());
    } finally {
      plan.scenario().end(cluster, where);
    }
    var unused = issuing.await(plan.duration().minus(plan.to()).plus(DRAIN));
    outcomes.add(outcome(client, folder));
  }

  private String folder(PointPlan client) {
    return client.folder() + "-" + plan.scenario().label();
  }

  /**
   * Where a mongos is lost, clients know all of them; null for those that the cluster's URL has.
   */
  private @Nullable String url() {
    return plan.scenario().ofShard() ? null : cluster.allRoutersUrl();
  }

  private Outcome outcome(PointPlan client, Path folder) {
    int seconds = (int) plan.duration().toSeconds();
    int from = (int) plan.from().toSeconds();
    int to = (int) plan.to().toSeconds();
    ShardLatencies latencies = ShardLatencies.read(YcsbCommand.latencies(folder), seconds);
    Map<String, Predicate<String>> groups = new LinkedHashMap<>();
    if (plan.scenario().ofShard()) {
      groups.put("healthy", shard -> !shard.equals(where));
      groups.put("affected", where::equals);
    } else {
      groups.put(ScenarioEntry.ALL, shard -> true);
    }
    List<ScenarioEntry> entries = new ArrayList<>();
    groups.forEach(
        (name, shards) -> {
          int settled = ShardLatencies.SETTLING_SECONDS;
          entries.add(
              entry(
                  client, "before", name, latencies.phase(shards, settled, from), from - settled));
          entries.add(entry(client, "during", name, latencies.phase(shards, from, to), to - from));
          entries.add(
              entry(client, "after", name, latencies.phase(shards, to, seconds), seconds - to));
        });
    Predicate<String> affected = groups.get("affected");
    return new Outcome(
        new Timeline.Line(
            client.client(),
            latencies.of(each -> affected == null || !affected.test(each), from, to),
            affected == null ? null : latencies.of(affected, from, to),
            folder(client)),
        entries);
  }

  private ScenarioEntry entry(
      PointPlan client, String phase, String shards, ShardLatencies.Phase figures, int seconds) {
    return client.entry(
        plan.scenario().label(),
        plan.rate(),
        plan.poisson(),
        phase,
        shards,
        figures,
        seconds,
        null,
        null);
  }
}
