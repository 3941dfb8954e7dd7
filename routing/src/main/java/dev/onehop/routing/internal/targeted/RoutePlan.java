package dev.onehop.routing.internal.targeted;

import dev.onehop.routing.internal.metrics.Route;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The way of a command.
 *
 * @param route null if it is split
 * @param parts of a command that is split; else empty
 */
record RoutePlan(@Nullable Route route, List<SplitWrite.Part> parts) {
  static RoutePlan of(Route route) {
    return new RoutePlan(route, List.of());
  }

  /** Whether a routing table decides a command's way. */
  static boolean needsTable(TargetedCommand command) {
    return command.isOperation() && (!command.isInTransaction() || command.startsTransaction());
  }
}
