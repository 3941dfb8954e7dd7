package dev.onehop.copy.internal.cluster;

import java.util.ArrayList;
import java.util.List;
import org.bson.BsonTimestamp;

/**
 * Stores for several points in time how many operations a server had executed until then. Between
 * two points, the tally assumes an even rate of operations. The number of points is limited, so
 * older points are farther apart. Not thread-safe.
 */
final class OperationTally {
  private static final int MOST_POINTS = 2_000;

  private final List<Point> points = new ArrayList<>();
  private long total;

  /** The number of all operations up to and including a time. */
  private record Point(BsonTimestamp time, long operations) {}

  /**
   * Adds operations.
   *
   * @param first the time of the first added operation; it must be after all operations that were
   *     added before
   * @param last the time of the last added operation
   * @param operations the number of added operations
   */
  void add(BsonTimestamp first, BsonTimestamp last, long operations) {
    points.add(new Point(new BsonTimestamp(first.getValue() - 1), total));
    total += operations;
    points.add(new Point(last, total));
    if (points.size() > MOST_POINTS) {
      thin();
    }
  }

  /** Removes every second point of the older points. */
  private void thin() {
    List<Point> kept = new ArrayList<>();
    for (int i = 0; i < points.size(); i++) {
      if (i % 2 == 0 || i >= points.size() - MOST_POINTS / 4) {
        kept.add(points.get(i));
      }
    }
    points.clear();
    points.addAll(kept);
  }

  /** The number of added operations at or after a time. */
  long since(BsonTimestamp time) {
    BsonTimestamp before = new BsonTimestamp(time.getValue() - 1);
    Point lower = null;
    for (Point point : points) {
      if (point.time().compareTo(before) > 0) {
        return total - (lower == null ? 0 : between(lower, point, before));
      }
      lower = point;
    }
    return 0;
  }

  private static long between(Point lower, Point upper, BsonTimestamp time) {
    double part =
        (double) (time.getValue() - lower.time().getValue())
            / (upper.time().getValue() - lower.time().getValue());
    return lower.operations() + Math.round(part * (upper.operations() - lower.operations()));
  }

  /**
   * Forgets operations before a time. Later calls of {@link #since} must not have an earlier time.
   */
  void forget(BsonTimestamp before) {
    while (points.size() > 1 && points.get(1).time().compareTo(before) < 0) {
      points.remove(0);
    }
  }

  /** The current number of points. */
  int points() {
    return points.size();
  }
}
