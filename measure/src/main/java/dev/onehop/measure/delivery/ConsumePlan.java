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
 * @param kinds of {@link ConsumePoint#DRAIN}, {@link ConsumePoint#LIVE}, {@link ConsumePoint#IDLE},
 *     in the order they run
 * @param sources where events are read
 * @param channels numbers of channels, one point for each; a point with an idle shard has the
 *     fewest
 * @param processes the number of processes that share the channels
 * @param total whether direct streams are in the order of all events; with an idle shard they
 *     always are
 * @param rate rows per second that are written while consumers read; null for as many as possible
 * @param idleRate the same for points with an idle shard
 * @param rows the rows of the backlog that is drained
 * @param duration how long a point other than a drain is measured
 * @param warmup how long rows are written before that
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

  /** The time of a point for starting, connecting and ending a JVM. */
  private static final Duration OVERHEAD = Duration.ofSeconds(3);

  /** The time that consumers need for rows that were written faster than they can read. */
  private static final Duration CATCHING_UP = Duration.ofSeconds(5);

  /**
   * A point of the measurement. Immutable.
   *
   * @param total whether a direct stream is in the order of all events
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

    /** The order of its events in results. */
    String order() {
      return total || source == StreamPath.MONGOS ? "total" : "key";
    }
  }

  /** The points, with the sources next to each other. */
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

  /** Whether a finished backlog is read. */
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

  /** Rows per second that are written while the point is measured; null for no limit. */
  @Nullable Double rate(Point point) {
    return point.kind().equals(ConsumePoint.IDLE) ? (Double) idleRate : rate;
  }
}
