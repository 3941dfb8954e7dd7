package dev.onehop.measure.delivery;

import com.mongodb.MongoException;
import dev.onehop.measure.bench.MeasuringRun;
import dev.onehop.measure.frame.BenchCluster;
import dev.onehop.measure.frame.RoundTripCheck;
import dev.onehop.measure.frame.RunContext;
import dev.onehop.measure.report.ConsumeReport;
import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.ConsumeResults;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.resync.Failure;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A run against a running cluster: splits the collection, measures the points. Writes {@code
 * results.json} after each point, so that a run which ends early leaves what it has.
 */
public final class ConsumeRun extends MeasuringRun<ConsumeResults> {

  /** What a range of a shard is split into; more than one, so that tables are real. */
  private static final int CHUNKS_PER_SHARD = 4;

  /** A writer that has less of its rate than this says so. */
  private static final double LEAST_OF_RATE = 0.95;

  private final ConsumePlan plan;
  private final BenchCluster cluster;
  private final boolean oneClock;
  private final Progress progress;
  private final List<ConsumePoint> points = new ArrayList<>(); // guarded by this
  private volatile @Nullable PointRun current;

  /**
   * Prepares a run.
   *
   * @param oneClock whether servers have this machine's clock, so that a lag can be computed from
   *     theirs
   */
  public ConsumeRun(
      ConsumePlan plan,
      BenchCluster cluster,
      boolean oneClock,
      Progress progress,
      RunContext context) {
    super(context);
    this.plan = plan;
    this.cluster = cluster;
    this.oneClock = oneClock;
    this.progress = progress;
  }

  @Override
  public void run() {
    try (RowCollection collection = new RowCollection(cluster.url(), RowCollection.NAME)) {
      List<String> off = RoundTripCheck.violations(cluster.topology());
      if (!off.isEmpty()) {
        throw Failure.run("round trips are not as configured: " + String.join("; ", off), null);
      }
      List<ConsumePlan.Point> planned = plan.points();
      progress.note(
          "%d points, about %s in all"
              .formatted(planned.size(), Progress.about(plan.estimateFrom(0))));
      Connections.requireStreams(cluster.url(), RowCollection.NAME);
      progress.phase("sharding " + RowCollection.NAME);
      int chunks = cluster.shardHosts().size() * CHUNKS_PER_SHARD;
      cluster.shard(RowCollection.NAME, RowCollection.bounds(chunks));
      measure(collection, planned);
    } catch (MongoException e) {
      throw fail(Failure.run("cannot use " + cluster.url() + ": " + Failure.firstLine(e), e));
    } catch (IOException | InterruptedException | RuntimeException e) {
      throw fail(Failure.of(e));
    }
  }

  private void measure(RowCollection collection, List<ConsumePlan.Point> planned)
      throws IOException, InterruptedException {
    // Distinguishes rows of earlier runs, whose documents may still be there.
    int run = ThreadLocalRandom.current().nextInt(1 << 20) << 10;
    Backlog backlog = null;
    if (plan.hasDrains()) {
      progress.phase("writing " + plan.rows() + " rows");
      backlog = Backlog.write(collection, run, plan.rows(), progress);
    }
    for (int i = 0; i < planned.size(); i++) {
      ConsumePlan.Point point = planned.get(i);
      progress.remaining(plan.estimateFrom(i));
      progress.point(i + 1, planned.size(), point.title());
      PointRun next =
          new PointRun(plan, point, cluster, collection, oneClock, context().out(), progress);
      current = next;
      ConsumePoint result =
          point.kind().equals(ConsumePoint.DRAIN) && backlog != null
              ? next.drain(backlog)
              : next.live(run + i + 1);
      current = null;
      add(point, result);
    }
  }

  private synchronized void add(ConsumePlan.Point planned, ConsumePoint point) {
    points.add(point);
    write();
    Double rate = planned.kind().equals(ConsumePoint.IDLE) ? (Double) plan.idleRate() : plan.rate();
    Double written = point.writtenPerSecond();
    if (written != null && rate != null && written < LEAST_OF_RATE * rate) {
      progress.note(
          String.format(
              Locale.ROOT,
              "%s: only %.0f of %.0f rows a second were written",
              planned.title(),
              written,
              rate));
    }
    if (point.faults() > 0) {
      progress.note(
          "%s: %d rows LOST, %d DOUBLED, %d OUT OF ORDER, %d UNEXPECTED"
              .formatted(
                  planned.title(),
                  point.lost(),
                  point.doubled(),
                  point.outOfOrder(),
                  point.unexpected()));
    }
  }

  @Override
  protected void report(ConsumeResults results) {
    var unused = ConsumeReport.write(context().out(), results);
  }

  @Override
  protected String finished(ConsumeResults results) {
    return results.points().size() + " finished points";
  }

  @Override
  protected void stop() {
    PointRun running = current;
    if (running != null) {
      running.stop();
    }
  }

  @Override
  protected synchronized ConsumeResults results() {
    int planned = plan.points().size();
    return new ConsumeResults(
        new RunFacts(
            context().started(),
            context().command(),
            points.size() == planned,
            stopReason(),
            planned,
            plan.hasDrains() ? plan.rows() : 0,
            "rows of " + Row.BYTES + " bytes, four key fields, one write in ten replaces a row",
            Map.of(),
            null,
            missing(),
            1,
            0,
            null,
            null),
        cluster.topology(),
        cluster.server(),
        context().machine(),
        List.copyOf(points));
  }

  private List<String> missing() {
    return oneClock
        ? List.of()
        : List.of("lags from the commit: the servers may have another clock");
  }
}
