package dev.onehop.measure.points;

import dev.onehop.resync.Failure;
import java.util.List;

/** The modes that are measured with many requests in flight on each socket. */
public enum Pipelining {
  /**
   * {@code targeted-async} and {@code direct-async} with and without it, to separate the effects of
   * routing and of pipelining. {@code legacy} and {@code async} without it, as applications use
   * them.
   */
  TARGETED,
  /** Every mode that supports it. */
  ON,
  /** None. */
  OFF,
  /** Every mode that supports it, with and without. */
  BOTH;

  /**
   * Parses the value of {@code --pipelining}.
   *
   * @throws Failure if it is none of on, off, both
   */
  public static Pipelining named(String value) {
    return switch (value) {
      case "on" -> ON;
      case "off" -> OFF;
      case "both" -> BOTH;
      default -> throw Failure.usage("--pipelining takes on, off or both, not '" + value + "'");
    };
  }

  /** The variants of a mode: with pipelining, without, or both in turn. */
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
