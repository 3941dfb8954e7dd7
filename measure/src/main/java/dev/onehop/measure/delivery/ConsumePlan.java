package dev.onehop.measure.delivery;

import dev.onehop.measure.frame.Bench;
import dev.onehop.measure.results.ConsumePoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a run is to measure. Immutable.
 *
 * @param kinds of {@link ConsumePoint#DRAIN}, {@link ConsumePoint#LIVE}, {@link ConsumePoint#IDLE},
 *     in the order they run
 * @param sources where events are read
 * @param channels how many channels, one point for each; a point with an idle shard has the fewest
 * @param processes how many processes share the channels
 * @param total whether direct streams are in the order of all events; with an idle shard they are
 * @param rate rows per second that are written while consumers read; null for as many as there can
 *     be
 * @param idleRate the same for points with an idle shard
 * @param rows of the backlog that is drained
 * @param duration how long a point is measured that is no drain
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

  /** Rows that a consumer takes a second, to say beforehand how long a run takes. */
  private static final long EXPECTED_RATE = 40_000;

  /** Rows that are written a second, likewise. */
  private static final long EXPECTED_WRITES = 20_000;

  /** What a point takes besides: a JVM starts, connects and ends. */
  private static final Duration OVERHEAD = Duration.ofSeconds(3);

  /** How long consumers go on with rows that were written faster than they can read. */
  private static final Duration CATCHING_UP = Duration.ofSeconds(5);

  /** Copies of the lists. */
  public ConsumePlan {
    kinds = List.copyOf(kinds);
    sources = List.copyOf(sources);
    channels = List.copyOf(channels);
  }

  /**
   * A point. Immutable.
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

    /** The order of its events, as results have it. */
    String order() {
      return total || source == StreamPath.MONGOS ? "total" : "key";
    }
  }

  /** The points, the sources side by side. */
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

  /** How long writing the backlog is expected to take; zero if there is none. */
  Duration estimateBacklog() {
    return hasDrains() ? Duration.ofMillis(1000 * rows / EXPECTED_WRITES) : Duration.ZERO;
  }

  /** How long a point is expected to take. */
  Duration estimate(Point point) {
    if (point.kind().equals(ConsumePoint.DRAIN)) {
      return OVERHEAD.plusMillis(2 * 1000 * rows / EXPECTED_RATE);
    }
    Duration measured = OVERHEAD.plus(warmup).plus(duration);
    return point.kind().equals(ConsumePoint.LIVE) && rate == null
        ? measured.plus(CATCHING_UP)
        : measured;
  }

  /** Rows per second of a point that are written while it is measured; null if not limited. */
  @Nullable Double rate(Point point) {
    return point.kind().equals(ConsumePoint.IDLE) ? (Double) idleRate : rate;
  }
}
