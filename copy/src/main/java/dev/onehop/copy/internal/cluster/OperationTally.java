package dev.onehop.copy.internal.cluster;

import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.bson.BsonTimestamp;

/**
 * Stores for several points in time how many operations a server had executed until then. Between
 * two points, the tally assumes an even rate of operations. The number of points is limited, so
 * older points are farther apart. Not thread-safe.
 */
final class OperationTally {
  private static final int MOST_POINTS = 2_000;

  /** The number of all operations up to and including a time. */
  private final NavigableMap<BsonTimestamp, Long> points = new TreeMap<>();

  private long total;

  /**
   * Adds operations.
   *
   * @param first the time of the first added operation; it must be after all operations that were
   *     added before
   * @param last the time of the last added operation
   * @param operations the number of added operations
   */
  void add(BsonTimestamp first, BsonTimestamp last, long operations) {
    points.put(new BsonTimestamp(first.getValue() - 1), total);
    total += operations;
    points.put(last, total);
    if (points.size() > MOST_POINTS) {
      thin();
    }
  }

  /** Removes every second point of the older points. */
  private void thin() {
    int older = points.size() - MOST_POINTS / 4;
    Iterator<BsonTimestamp> times = points.keySet().iterator();
    for (int i = 0; i < older; i++) {
      times.next();
      if (i % 2 == 1) {
        times.remove();
      }
    }
  }

  /** The number of added operations at or after a time. */
  long since(BsonTimestamp time) {
    BsonTimestamp before = new BsonTimestamp(time.getValue() - 1);
    Map.Entry<BsonTimestamp, Long> lower = points.floorEntry(before);
    Map.Entry<BsonTimestamp, Long> upper = points.higherEntry(before);
    if (upper == null) {
      return 0;
    }
    if (lower == null) {
      return total;
    }
    double part =
        (double) (before.getValue() - lower.getKey().getValue())
            / (upper.getKey().getValue() - lower.getKey().getValue());
    return total - lower.getValue() - Math.round(part * (upper.getValue() - lower.getValue()));
  }

  /**
   * Forgets operations before a time. Later calls of {@link #since} must not have an earlier time.
   */
  void forget(BsonTimestamp before) {
    BsonTimestamp last = points.lowerKey(before);
    if (last != null) {
      points.headMap(last).clear();
    }
  }

  /** The current number of points. */
  int points() {
    return points.size();
  }
}
