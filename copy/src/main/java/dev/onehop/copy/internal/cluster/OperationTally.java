package dev.onehop.copy.internal.cluster;

import java.util.ArrayList;
import java.util.List;
import org.bson.BsonTimestamp;

/**
 * How many operations a server has carried out until which time. It keeps some points only: between
 * two of them operations are taken to be spread evenly. The older points are, the farther they are
 * from each other. Not thread-safe.
 */
final class OperationTally {
  private static final int MOST_POINTS = 2_000;

  private final List<Point> points = new ArrayList<>();
  private long total;

  /** How many there were up to a time, with it. */
  private record Point(BsonTimestamp time, long operations) {}

  /**
   * Counts some more.
   *
   * @param first when the first of them was, after all that were counted before
   * @param last when the last of them was
   */
  void add(BsonTimestamp first, BsonTimestamp last, long operations) {
    points.add(new Point(new BsonTimestamp(first.getValue() - 1), total));
    total += operations;
    points.add(new Point(last, total));
    if (points.size() > MOST_POINTS) {
      thin();
    }
  }

  /** Leaves out every other one of the older points. */
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

  /** How many of those that were counted were at a time or later. */
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

  /** Forgets what nobody will ask for: what was before a time. */
  void forget(BsonTimestamp before) {
    while (points.size() > 1 && points.get(1).time().compareTo(before) < 0) {
      points.remove(0);
    }
  }

  /** How many points it keeps. */
  int points() {
    return points.size();
  }
}
