package dev.onehop.measure.points;

import dev.onehop.measure.results.ClientRun;
import dev.onehop.measure.results.FleetResult;
import dev.onehop.measure.results.Point;
import dev.onehop.measure.results.ScenarioEntry;
import dev.onehop.measure.results.Timeline;
import dev.onehop.measure.results.ZonesResult;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the measurement of a {@link PointCell} gave. Immutable. */
sealed interface Finding {

  /**
   * Of a closed loop.
   *
   * @param clients the clients behind it; null if it was only one
   */
  record OfPoint(Point point, @Nullable ClientRun clients) implements Finding {}

  /** Of operations at a fixed rate. */
  record OfRate(ScenarioEntry entry) implements Finding {}

  /**
   * Of a fault.
   *
   * @param line second by second
   * @param entries phase by phase
   */
  record OfFault(Timeline.Line line, List<ScenarioEntry> entries) implements Finding {}

  /** Of an application in a zone. */
  record OfZone(ZonesResult.Line line) implements Finding {}

  /** Of many instances of an application. */
  record OfFleet(FleetResult.Line line) implements Finding {}
}
