package dev.onehop.routing.internal.targeted;

import dev.onehop.routing.internal.metrics.Route;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The route of a command.
 *
 * @param route null if the command is split
 * @param parts the parts of a split command; otherwise empty
 */
record RoutePlan(@Nullable Route route, List<SplitWrite.Part> parts) {
  static RoutePlan of(Route route) {
    return new RoutePlan(route, List.of());
  }

  /** Whether a routing table decides a command's route. */
  static boolean needsTable(TargetedCommand command) {
    return command.isOperation() && (!command.isInTransaction() || command.startsTransaction());
  }
}
