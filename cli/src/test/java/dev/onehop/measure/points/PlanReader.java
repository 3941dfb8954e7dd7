package dev.onehop.measure.points;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads the points of a plan, for tests of the commands that create plans. */
public final class PlanReader {

  private PlanReader() {}

  /**
   * A point of a plan. A field is null if the point's kind of load does not have it.
   *
   * @param kind the class name of the load
   */
  public record Cell(
      String kind,
      Mode mode,
      int threads,
      int connections,
      Warmup warmup,
      @Nullable Long operations,
      @Nullable Duration duration,
      @Nullable Double error,
      @Nullable Arrivals arrivals) {

    private static Cell of(PointCell cell) {
      Load load = cell.load();
      ClosedLoop loop = load instanceof ClosedLoop its ? its : null;
      return new Cell(
          load.getClass().getSimpleName(),
          cell.mode(),
          cell.threads(),
          cell.connections(),
          load.warmup(),
          loop == null ? null : loop.operations(),
          loop == null ? null : loop.duration(),
          loop == null ? null : loop.error(),
          load instanceof OpenLoop open ? open.arrivals() : null);
    }
  }

  /** All points, each once, in display order. */
  public static List<Cell> cells(PointsPlan plan) {
    return plan.all().stream().map(Cell::of).toList();
  }

  /** The seed of the order of the points. */
  public static long seed(PointsPlan plan) {
    return plan.seed();
  }

  /** The number of measurements of each point. */
  public static int rounds(PointsPlan plan) {
    return plan.rounds();
  }
}
