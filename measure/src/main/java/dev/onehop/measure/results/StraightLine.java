package dev.onehop.measure.results;

import java.util.List;
import java.util.Optional;

/**
 * A straight line through points, by least squares.
 *
 * @param fixed the value at zero
 * @param slope the rise per unit
 */
public record StraightLine(double fixed, double slope) {

  /** A point. */
  public record At(double x, double y) {}

  /** Returns the line through points; empty if no two points have different positions. */
  public static Optional<StraightLine> through(List<At> points) {
    double meanX = points.stream().mapToDouble(At::x).average().orElse(0);
    double meanY = points.stream().mapToDouble(At::y).average().orElse(0);
    double both = 0;
    double square = 0;
    for (At point : points) {
      both += (point.x() - meanX) * (point.y() - meanY);
      square += (point.x() - meanX) * (point.x() - meanX);
    }
    if (square == 0) {
      return Optional.empty();
    }
    double slope = both / square;
    return Optional.of(new StraightLine(meanY - slope * meanX, slope));
  }
}
