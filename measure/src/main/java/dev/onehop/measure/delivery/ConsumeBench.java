package dev.onehop.measure.delivery;

import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.frame.Session;
import dev.onehop.measure.results.ConsumePoint;
import dev.onehop.measure.results.ConsumeResults;
import dev.onehop.measure.results.RunFacts;
import dev.onehop.resync.Progress;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ThreadLocalRandom;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;

/** {@code onehop consume}: measures the rate of consumed rows, and the lag of consumers. */
public final class ConsumeBench implements Bench<ConsumePlan.Point, ConsumePoint, ConsumeResults> {

  /** The name of the collection, in the database of the cluster's URL. */
  static final String COLLECTION = "onehop_consume";

  /** The size of a row in bytes. */
  static final int ROW_BYTES = 220;

  private static final int CHUNKS_PER_SHARD = 4;

  /** The bench prints a warning if a writer writes less than this share of its rate. */
  private static final double LEAST_OF_RATE = 0.95;

  private final ConsumePlan plan;
  private final boolean oneClock;

  // The number that marks the rows of this run, because rows of earlier runs may still exist.
  private int run = ThreadLocalRandom.current().nextInt(1 << 20) << 10;
  private @Nullable Backlog backlog;

  /**
   * Rows that are written before they are read.
   *
   * @param run the number that marks the rows
   * @param start the cluster time before the first of them
   * @param count the number of versions of rows
   * @param rows the acknowledged rows
   */
  record Backlog(int run, BsonTimestamp start, long count, RowSet rows) {}

  /**
   * Creates a bench for a plan.
   *
   * @param oneClock whether the servers use this machine's clock; a lag can then be computed from
   *     their times
   */
  public ConsumeBench(ConsumePlan plan, boolean oneClock) {
    this.plan = plan;
    this.oneClock = oneClock;
  }

  @Override
  public void prepare(Session session) throws InterruptedException {
    Progress progress = session.progress();
    Duration left = plan.estimateBacklog();
    for (ConsumePlan.Point point : plan.points()) {
      left = left.plus(plan.estimate(point));
    }
    progress.note(
        "%d points, about %s in total".formatted(plan.points().size(), Progress.about(left)));
    progress.remaining(left);
    progress.phase("sharding " + COLLECTION);
    RowCollection.prepare(session.cluster(), COLLECTION, CHUNKS_PER_SHARD);
    if (plan.hasDrains()) {
      progress.phase("writing " + plan.rows() + " rows");
      try (RowCollection collection = new RowCollection(session.cluster().url(), COLLECTION);
          RowWriter writer = writer(collection, run, HashRanges.all())) {
        BsonTimestamp start = collection.now();
        writer.start(plan.rows());
        while (writer.acknowledged() < plan.rows()) {
          Thread.sleep(100);
          writer.check();
          progress.state(writer.acknowledged() + " of " + plan.rows());
        }
        writer.stop();
        backlog = new Backlog(run, start, writer.acknowledged(), writer.versions());
      }
    }
  }

  /** Creates a writer. One of ten writes replaces a row. */
  static RowWriter writer(RowCollection collection, int run, HashRanges hashes) {
    return new RowWriter(collection.rows(), new RowWriter.Kind(run, 0, ROW_BYTES, 1, 10), hashes);
  }

  @Override
  public List<ConsumePlan.Point> cells() {
    return plan.points();
  }

  @Override
  public Duration estimate(ConsumePlan.Point point, Session session) {
    return plan.estimate(point);
  }

  @Override
  public ConsumePoint measure(ConsumePlan.Point point, Session session)
      throws IOException, InterruptedException {
    ConsumePoint result;
    try (RowCollection collection = new RowCollection(session.cluster().url(), COLLECTION)) {
      PointRun next = new PointRun(plan, point, collection, oneClock, session);
      result =
          point.kind().equals(ConsumePoint.DRAIN) && backlog != null
              ? next.drain(backlog)
              : next.live(++run);
    }
    note(point, result, session.progress());
    return result;
  }

  private void note(ConsumePlan.Point planned, ConsumePoint point, Progress progress) {
    Double rate = plan.rate(planned);
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
  public @Nullable ConsumeResults results(
      List<Measured<ConsumePlan.Point, ConsumePoint>> measured, Session session) {
    if (measured.isEmpty()) {
      return null;
    }
    RunFacts.Load load =
        RunFacts.Load.of(
            plan.hasDrains() ? plan.rows() : 0,
            "rows of " + ROW_BYTES + " bytes with four key fields; one write in ten replaces a row",
            oneClock
                ? List.of()
                : List.of(
                    "lags since the commit, because the servers' clocks may differ from this"
                        + " machine's clock"),
            1,
            0);
    return new ConsumeResults(
        session.envelope(plan.points().size(), load),
        measured.stream().map(Measured::point).toList());
  }
}
