package dev.onehop.measure.points;

import dev.onehop.measure.results.ClientRun;
import dev.onehop.measure.results.FleetResult;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.Timeline;
import dev.onehop.measure.results.ZonesResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The result of the measurement of a {@link PointCell}. Immutable. */
sealed interface Finding {

  /**
   * The result of a closed loop.
   *
   * @param clients the clients of the point; null if there was only one client
   */
  record OfPoint(Point point, @Nullable ClientRun clients) implements Finding {}

  /** The result of operations at a fixed rate. */
  record OfRate(ScenarioEntry entry) implements Finding {}

  /**
   * The result of a fault.
   *
   * @param line the figures by second
   * @param entries the figures by phase
   */
  record OfFault(Timeline.Line line, List<ScenarioEntry> entries) implements Finding {}

  /** The result of an application in a zone. */
  record OfZone(ZonesResult.Line line) implements Finding {}

  /** The result of many instances of an application. */
  record OfFleet(FleetResult.Line line) implements Finding {}
}
