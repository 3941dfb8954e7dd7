package dev.onehop.measure.points;

import dev.onehop.resync.Failure;
import java.util.List;

/** Which modes are measured with many requests in flight on each socket. */
public enum Pipelining {
  /**
   * {@code targeted-async} and {@code direct-async} with and without it, so that what routing does
   * stands apart from what pipelining does; {@code legacy} and {@code async} as their users have
   * them.
   */
  TARGETED,
  /** Every mode that can. */
  ON,
  /** None. */
  OFF,
  /** Every mode that can, with and without. */
  BOTH;

  /**
   * What {@code --pipelining} says.
   *
   * @throws Failure if it is none of on, off, both
   */
  public static Pipelining named(String value) {
    return switch (value) {
      case "on" -> ON;
      case "off" -> OFF;
      case "both" -> BOTH;
      default -> throw Failure.usage("--pipelining takes on, off or both, and not '" + value + "'");
    };
  }

  /** How a mode is measured: with pipelining, without, or first the one and then the other. */
  List<Boolean> variants(Mode mode) {
    if (!mode.canPipeline()) {
      return List.of(false);
    }
    if (mode.isPipelinedOnly()) {
      return List.of(true);
    }
    return switch (this) {
      case TARGETED ->
          mode == Mode.TARGETED_ASYNC || mode == Mode.DIRECT_ASYNC
              ? List.of(false, true)
              : List.of(false);
      case ON -> List.of(true);
      case OFF -> List.of(false);
      case BOTH -> List.of(false, true);
    };
  }
}
