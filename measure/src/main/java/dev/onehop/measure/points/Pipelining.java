package dev.onehop.measure.points;

import dev.onehop.resync.Failure;
import java.util.List;

/** The modes that are measured with many requests in flight on each socket. */
public enum Pipelining {
  /**
   * {@code targeted-async} and {@code direct-async} with and without pipelining, which separates
   * the effects of routing and of pipelining. {@code legacy} and {@code async} without pipelining,
   * as applications use them.
   */
  TARGETED,
  /** Every mode that supports pipelining, with pipelining. */
  ON,
  /** No mode. */
  OFF,
  /** Every mode that supports pipelining, with and without pipelining. */
  BOTH;

  /**
   * Parses the value of {@code --pipelining}.
   *
   * @throws Failure if the value is not on, off or both
   */
  public static Pipelining named(String value) {
    return switch (value) {
      case "on" -> ON;
      case "off" -> OFF;
      case "both" -> BOTH;
      default -> throw Failure.usage("--pipelining takes on, off or both, not '" + value + "'");
    };
  }

  /** Returns the variants of a mode to measure: true is with pipelining, false is without. */
  List<Boolean> variants(Mode mode) {
    if (!mode.canPipeline()) {
      return List.of(false);
    }
    if (mode.isPipelinedOnly()) {
      return List.of(true);
    }
    return switch (this) {
      case TARGETED -> mode.throughOneRouter() ? List.of(false) : List.of(false, true);
      case ON -> List.of(true);
      case OFF -> List.of(false);
      case BOTH -> List.of(false, true);
    };
  }
}
