package dev.onehop.measure.points;

import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.Processors;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.report.Format;
import dev.onehop.measure.report.Reports;
import dev.onehop.measure.results.ClientRun;
import dev.onehop.measure.results.FleetResult;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.Ratios;
import dev.onehop.measure.results.Results;
import dev.onehop.measure.results.RouterCost;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.measure.results.RunFacts.Placement;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.ServerFacts;
import dev.onehop.measure.results.Timeline;
import dev.onehop.measure.results.ZonesResult;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Stream;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;

/**
 * The bench of clients and their loads. It splits and loads the collection, checks the owners of
 * the documents, and measures the cells of its plan.
 */
public final class PointsBench implements Bench<PointCell, List<Record>, Results> {

  /** The number of chunks per shard. More than one makes routing tables realistic. */
  private static final int CHUNKS_PER_SHARD = 4;

  private final PointsPlan plan;
  private final ClientPlan clientPlan;
  private final Workload workload;
  private @Nullable YcsbClients clients;
  private @Nullable Placement placement;
  private boolean firstShown;

  /**
   * Creates a bench.
   *
   * @param clientPlan the client processes of each point
   */
  public PointsBench(PointsPlan plan, ClientPlan clientPlan, Workload workload) {
    this.plan = plan;
    this.clientPlan = clientPlan;
    this.workload = workload;
  }

  @Override
  public List<PointCell> cells() {
    return plan.measurements();
  }

  @Override
  public Duration estimate(PointCell cell, Session session) {
    return cell.load().estimate(cell, session.cluster().meanShardRoundTripMillis());
  }

  @Override
  public void prepare(Session session) throws IOException, InterruptedException {
    BenchCluster cluster = session.cluster();
    Progress progress = session.progress();
    Duration estimate = plan.estimate(cluster.meanShardRoundTripMillis());
    progress.note(
        "%s, %sabout %s in total"
            .formatted(
                Format.counted(plan.measurements().size(), "measurement"),
                plan.points().isEmpty() ? "" : "random order of seed " + plan.seed() + ", ",
                Progress.about(estimate)));
    progress.remaining(estimate.plusSeconds(8));
    YcsbClients started =
        new YcsbClients(
            cluster,
            progress,
            session.folder(),
            workload,
            clientPlan,
            quickCompilerOnly(cluster),
            cluster.processors());
    clients = started;
    if (clientPlan.isFirst()) {
      progress.phase("sharding " + workload.collection());
      int ranges = cluster.shardHosts().size() * CHUNKS_PER_SHARD;
      cluster.shard(
          workload.collection(),
          workload.splitPoints(ranges).stream().map(BsonString::new).toList());
    }
    progress.phase("loading " + workload.records() + " documents");
    load(started);
    if (!clientPlan.isPart()) { // otherwise other clients may still load documents
      progress.phase("checking every document's shard");
      placement = cluster.placement(workload.collection(), workload.records());
    }
    progress.phase("warming up the routers");
    cluster.warmUp(workload.collection());
  }

  /**
   * Whether to use only the quick compiler. With long round trips or few processors, the optimizing
   * compiler is still active after a short warm-up. It then takes processor time from the measured
   * program: with two processors, for some 15 s of a point.
   */
  private boolean quickCompilerOnly(BenchCluster cluster) {
    boolean slow = cluster.isFar() || Runtime.getRuntime().availableProcessors() <= 2;
    return slow && !plan.hasLongWarmup();
  }

  /** Loads all documents. A failed insert fails the run. */
  private void load(YcsbClients started) throws IOException, InterruptedException {
    Path folder = started.folder("load");
    YcsbArguments arguments = YcsbArguments.load(started, folder);
    Duration alone = Duration.ofMinutes(2).plusMillis(workload.records());
    Duration atMost = clientPlan.isPart() ? alone.plus(ClosedLoop.FOR_OTHERS) : alone;
    try (YcsbClients.Running running = started.start(Map.of(folder, arguments))) {
      YcsbOutput output = running.await(atMost, false);
      if (output.errors() > 0) {
        throw Failure.run("loading failed: " + output.failures() + "; see " + folder, null);
      }
    }
  }

  @Override
  public List<Record> measure(PointCell cell, Session session)
      throws IOException, InterruptedException {
    List<Record> results = cell.load().measure(cell, Objects.requireNonNull(clients));
    for (Record result : results) {
      if (result instanceof Point point && point.errors() > 0) {
        session
            .progress()
            .note(
                "%s: %d operations FAILED: %s"
                    .formatted(cell.title(), point.errors(), point.done().failures()));
      }
    }
    return results;
  }

  @Override
  public @Nullable Results results(
      List<Measured<PointCell, List<Record>>> measured, Session session) {
    if (clients == null) {
      return null;
    }
    BenchCluster cluster = session.cluster();
    List<Point> points = rounds(measured, Point.class, Point::median);
    List<ScenarioEntry> entries =
        Stream.concat(
                found(measured, ScenarioEntry.class).stream()
                    .filter(entry -> !entry.scenario().equals(ScenarioEntry.RATE)),
                rounds(measured, ScenarioEntry.class, ScenarioEntry::median).stream())
            .toList();
    ServerFacts server = cluster.server();
    Results results =
        new Results(
            session.envelope(
                plan.all().size(),
                load(cluster),
                cluster.topology(),
                server.router().isStandIn() ? server.withCost(RouterCost.of(points)) : server),
            points,
            entries,
            together(
                measured,
                Fault.class,
                fault -> fault.timeline(cluster, found(measured, Timeline.Line.class))),
            Ratios.of(points, entries, plan.seed()),
            together(
                measured,
                ZoneTraffic.class,
                zone -> zone.result(found(measured, ZonesResult.Line.class))),
            // the clients of the displayed rounds
            found(measured, ClientRun.class).stream()
                .filter(
                    run -> points.stream().anyMatch(point -> point.folder().equals(run.folder())))
                .toList(),
            together(
                measured,
                Fleet.class,
                fleet -> fleet.result(found(measured, FleetResult.Line.class))));
    showFirst(results, measured.size(), session.progress());
    return results;
  }

  /** Shows the results of the scenarios before the points are measured. */
  private void showFirst(Results results, int measured, Progress progress) {
    boolean first = measured == plan.before().size() && !plan.points().isEmpty();
    if (first && measured > 0 && !firstShown) {
      firstShown = true;
      progress.note("\n" + Reports.table(results));
    }
  }

  private RunFacts.Load load(BenchCluster cluster) {
    Processors processors = Objects.requireNonNull(clients).processors();
    return new RunFacts.Load(
        workload.records(),
        workload.name(),
        plan.properties(),
        placement,
        cluster.missing(),
        plan.rounds(),
        plan.seed(),
        processors == null ? null : processors.text(),
        plan.experiment());
  }

  private static <T> List<T> found(
      List<Measured<PointCell, List<Record>>> measured, Class<T> type) {
    return measured.stream()
        .flatMap(each -> each.point().stream())
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  /**
   * Returns the median round of each point. The points ran in a random order, and the result has
   * the order of the plan.
   */
  private <T> List<T> rounds(
      List<Measured<PointCell, List<Record>>> measured,
      Class<T> type,
      Function<List<T>, T> median) {
    return plan.points().stream()
        .map(
            planned ->
                found(
                    measured.stream()
                        .filter(each -> each.cell().inRound(0).equals(planned))
                        .toList(),
                    type))
        .filter(rounds -> !rounds.isEmpty())
        .map(median)
        .toList();
  }

  /**
   * Returns the result of all measurements of a kind of load together; empty if there are none.
   *
   * @param result returns the result for one of these loads, which all have the same rate
   */
  private static <L extends Load, T> List<T> together(
      List<Measured<PointCell, List<Record>>> measured, Class<L> type, Function<L, T> result) {
    return measured.stream()
        .map(each -> each.cell().load())
        .filter(type::isInstance)
        .map(type::cast)
        .limit(1)
        .map(result)
        .toList();
  }

  @Override
  public String table(Results results) {
    return results.finished() == 0 ? "" : Reports.table(results);
  }
}
