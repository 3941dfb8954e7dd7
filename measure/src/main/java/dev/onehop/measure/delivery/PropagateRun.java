package dev.onehop.measure.delivery;

import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import dev.onehop.measure.bench.MeasuringRun;
import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.RoundTripCheck;
import dev.onehop.measure.frame.RunContext;
import dev.onehop.measure.report.PropagateReport;
import dev.onehop.measure.results.PropagateMeasurement;
import dev.onehop.measure.results.PropagateResults;
import dev.onehop.measure.results.PropagateResults.Streams;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.bson.BsonDocument;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/**
 * A run against a running cluster. Writes {@code results.json} after each measurement, so that a
 * run which ends early leaves what it has.
 */
public final class PropagateRun extends MeasuringRun<PropagateResults> {

  /** In the database of the cluster's URL. */
  static final String COLLECTION = "onehop_propagate";

  private static final int CHUNKS_PER_SHARD = 2;
  private static final int MOST_ATTEMPTS = 3;

  private final PropagatePlan plan;
  private final BenchCluster cluster;
  private final boolean standInWaits;
  private final Progress progress;
  private final List<PropagateMeasurement> measurements = new ArrayList<>(); // guarded by this
  private Map<String, Double> noops = Map.of(); // guarded by this
  private int finished; // guarded by this
  private volatile @Nullable Thread runner;

  /**
   * Prepares a run.
   *
   * @param standInWaits whether stand-in routers' streams wait as those of a mongos do
   */
  public PropagateRun(
      PropagatePlan plan,
      BenchCluster cluster,
      boolean standInWaits,
      Progress progress,
      RunContext context) {
    super(context);
    this.plan = plan;
    this.cluster = cluster;
    this.standInWaits = standInWaits && cluster.server().router().isStandIn();
    this.progress = progress;
  }

  @Override
  public void run() {
    runner = Thread.currentThread();
    try (RowCollection collection = new RowCollection(cluster.url(), COLLECTION)) {
      List<String> off = RoundTripCheck.violations(cluster.topology());
      if (!off.isEmpty()) {
        throw Failure.run("round trips are not as configured: " + String.join("; ", off), null);
      }
      Connections.requireStreams(cluster.url(), COLLECTION);
      progress.phase("sharding " + COLLECTION);
      int chunks = cluster.shardHosts().size() * CHUNKS_PER_SHARD;
      cluster.shard(COLLECTION, RowCollection.bounds(chunks));
      measure(collection);
    } catch (MongoException e) {
      throw fail(Failure.run("cannot use " + cluster.url() + ": " + Failure.firstLine(e), e));
    } catch (IOException | InterruptedException | RuntimeException e) {
      throw fail(Failure.of(e));
    } finally {
      runner = null;
    }
  }

  private void measure(RowCollection collection) throws IOException, InterruptedException {
    List<PropagatePlan.Point> points = plan.points();
    // Distinguishes objects of earlier runs, whose events may still come.
    int run = ThreadLocalRandom.current().nextInt(1 << 20) << 10;
    for (int i = 0; i < points.size(); i++) {
      PropagatePlan.Point point = points.get(i);
      progress.point(i + 1, points.size(), point.title());
      progress.heading(point.title() + ":");
      add(measure(point, run + i * MOST_ATTEMPTS, collection));
    }
    clear();
  }

  /**
   * Measures until shards and chunks stay where they are meanwhile: there is one signal on each
   * shard, and a mongos waits for each. What was lost or doubled is kept in any case.
   */
  private List<PropagateMeasurement> measure(
      PropagatePlan.Point point, int run, RowCollection collection)
      throws IOException, InterruptedException {
    for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      Placement before = Placement.of(collection);
      Map<String, Double> told = NoopIntervals.read(cluster.url());
      synchronized (this) {
        noops = told;
      }
      clear();
      List<PropagateMeasurement> found =
          measure(
              point, run + attempt, collection.now(), List.copyOf(collection.byShard().values()));
      if (Placement.of(collection).equals(before)
          || found.stream().anyMatch(each -> each.faults() > 0)) {
        return found;
      }
      progress.note(
          "Shards or chunks of %s changed while this was measured; it is not counted."
              .formatted(COLLECTION));
    }
    throw Failure.run(
        "shards or chunks of %s changed in each of %d attempts; stop the balancer for it"
            .formatted(COLLECTION, MOST_ATTEMPTS),
        null);
  }

  /** What must not change during a measurement. */
  private record Placement(Set<String> shards, BsonTimestamp version) {
    static Placement of(RowCollection collection) {
      return new Placement(collection.shards(), collection.version());
    }
  }

  /** Deletes the documents of the measurement before. */
  private void clear() {
    try (MongoClient client = Clients.plain(cluster.url())) {
      var unused =
          client
              .getDatabase(cluster.url().database())
              .getCollection(COLLECTION)
              .deleteMany(new BsonDocument());
    }
  }

  private List<PropagateMeasurement> measure(
      PropagatePlan.Point point, int run, BsonTimestamp start, List<HashRanges> shards)
      throws IOException, InterruptedException {
    Path out = context().out();
    if (point.measurement() == Measurement.LOAD) {
      return new LoadRun(plan, point, cluster.url(), run, patience(), progress).measure(out);
    }
    if (!point.measurement().isPropagation()) {
      return new BootstrapRun(
              plan, point, cluster.url(), request(start), run, shards, patience(), progress)
          .measure(out);
    }
    return new PropagationRun(
            plan, point, cluster.url(), COLLECTION, run, shards, patience(), progress)
        .measure(sink -> Listeners.here(request(start), sink), out);
  }

  /**
   * How long to wait for what may never come: a mongos waits for the no-op of an idle server, of
   * which one may be left out, and then for the end of that server's wait for events.
   */
  private synchronized Duration patience() {
    double noop = noops.values().stream().mapToDouble(seconds -> seconds).max().orElse(10);
    return Duration.ofSeconds(30)
        .plus(Duration.ofMillis((long) (2_000 * noop)))
        .plus(plan.await().multipliedBy(2));
  }

  private StreamRequest request(BsonTimestamp start) {
    return new StreamRequest(
        Connections.settings(cluster.url().secret(), cluster.url().authority()),
        cluster.url().database(),
        COLLECTION,
        start,
        List.of(),
        plan.await(),
        plan.total());
  }

  private synchronized void add(List<PropagateMeasurement> found) {
    measurements.addAll(found);
    finished++;
    write();
    for (PropagateMeasurement each : found) {
      if (each.faults() > 0) {
        progress.note(
            "%s by %s: %d LOST, %d DOUBLED"
                .formatted(each.name(), each.path(), each.lost(), each.doubled()));
      }
    }
  }

  @Override
  protected void report(PropagateResults results) {
    var unused = PropagateReport.write(context().out(), results);
  }

  @Override
  protected String finished(PropagateResults results) {
    return results.measurements().size() + " finished results";
  }

  @Override
  protected void stop() {
    Thread running = runner;
    if (running != null) {
      running.interrupt();
    }
  }

  @Override
  protected synchronized PropagateResults results() {
    int planned = plan.points().size();
    List<String> missing = new ArrayList<>();
    if (noops.size() <= cluster.shardHosts().size()) {
      missing.add("the no-op interval of some servers, which don't tell it to this user");
    }
    return new PropagateResults(
        PropagateResults.COMMAND,
        new RunFacts(
            context().started(),
            context().command(),
            finished == planned,
            stopReason(),
            planned,
            Collections.max(plan.documents()),
            "objects and signals, one signal on each shard",
            Map.of(),
            null,
            missing,
            plan.tests(),
            0,
            null,
            null),
        cluster.topology(),
        cluster.server(),
        context().machine(),
        new Streams(plan.await().toMillis(), noops, plan.total() ? "total" : "key", standInWaits),
        List.copyOf(measurements));
  }
}
