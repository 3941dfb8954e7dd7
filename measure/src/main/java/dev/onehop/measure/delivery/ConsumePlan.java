package dev.onehop.measure.delivery;

import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.results.ConsumePoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a run. Immutable.
 *
 * @param kinds the kinds of points in the order of their measurement: {@link ConsumePoint#DRAIN},
 *     {@link ConsumePoint#LIVE}, {@link ConsumePoint#IDLE}
 * @param sources the paths by which events are read
 * @param channels the numbers of channels, with one point for each; a point with an idle shard uses
 *     the smallest number
 * @param processes the number of processes that share the channels
 * @param total whether direct streams have one order of all events; they always have it at a point
 *     with an idle shard
 * @param rate the rows per second that are written while consumers read; null for no limit
 * @param idleRate the rows per second of points with an idle shard
 * @param rows the number of rows of the backlog for a drain
 * @param duration the time for which a point other than a drain is measured
 * @param warmup the time for which rows are written before the measurement
 */
public record ConsumePlan(
    List<String> kinds,
    List<StreamPath> sources,
    List<Integer> channels,
    int processes,
    boolean total,
    @Nullable Double rate,
    double idleRate,
    long rows,
    Duration duration,
    Duration warmup) {

  /** The expected rows per second of a consumer, for estimates. */
  private static final long EXPECTED_RATE = 40_000;

  /** The expected rows per second of a writer, for estimates. */
  private static final long EXPECTED_WRITES = 20_000;

  /** The additional time of a point, for starting, connecting and ending a JVM. */
  private static final Duration OVERHEAD = Duration.ofSeconds(3);

  /**
   * The expected time in which consumers read the remaining rows, if writers write faster than
   * consumers read.
   */
  private static final Duration CATCHING_UP = Duration.ofSeconds(5);

  /**
   * A point of the measurement. Immutable.
   *
   * @param total whether a direct stream has one order of all events
   */
  public record Point(String kind, StreamPath source, boolean total, int channels, int processes)
      implements Bench.Cell {

    @Override
    public String title() {
      return "%s, %s, %d %s"
          .formatted(kind, source.label(), channels, channels == 1 ? "channel" : "channels");
    }

    /** The name of the point's folder. */
    String folder() {
      return "points/%s-%s-%03d".formatted(kind, source.label(), channels);
    }

    /** The order of the point's events in results. */
    String order() {
      return total || source == StreamPath.MONGOS ? "total" : "key";
    }
  }

  /** Returns the points. Points that differ only in the source follow each other. */
  List<Point> points() {
    List<Point> points = new ArrayList<>();
    for (String kind : kinds) {
      boolean idle = kind.equals(ConsumePoint.IDLE);
      for (int count : idle ? channels.subList(0, 1) : channels) {
        for (StreamPath source : sources) {
          points.add(new Point(kind, source, total || idle, count, processes));
        }
      }
    }
    return points;
  }

  /** Whether the plan has a drain, which reads a finished backlog. */
  boolean hasDrains() {
    return kinds.contains(ConsumePoint.DRAIN);
  }

  /** The expected time of writing the backlog; zero if there is none. */
  Duration estimateBacklog() {
    return hasDrains() ? Duration.ofMillis(1000 * rows / EXPECTED_WRITES) : Duration.ZERO;
  }

  /** The expected time of a point. */
  Duration estimate(Point point) {
    if (point.kind().equals(ConsumePoint.DRAIN)) {
      return OVERHEAD.plusMillis(2 * 1000 * rows / EXPECTED_RATE);
    }
    Duration measured = OVERHEAD.plus(warmup).plus(duration);
    return point.kind().equals(ConsumePoint.LIVE) && rate == null
        ? measured.plus(CATCHING_UP)
        : measured;
  }

  /** The rows per second that are written while the point is measured; null for no limit. */
  @Nullable Double rate(Point point) {
    return point.kind().equals(ConsumePoint.IDLE) ? (Double) idleRate : rate;
  }
}
