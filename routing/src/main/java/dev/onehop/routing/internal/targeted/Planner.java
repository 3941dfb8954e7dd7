package dev.onehop.routing.internal.targeted;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.internal.metrics.Route;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.shards.catalog.RoutingCatalog;
import dev.onehop.shards.command.TransactionPins;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.watch.PreferredZones;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.bson.BsonDocument;
import org.bson.RawBsonDocument;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Chooses the route of each command by the loaded routing table, the mongoses, and the locations of
 * cursors and transactions.
 *
 * <p>Thread-safe.
 */
final class Planner {
  private static final Logger log = LoggerFactory.getLogger(Planner.class);

  private static final double HARDLY_LONGER = 4 / 3.0;

  private final Mongoses mongoses;
  private final @Nullable RoutingCatalog catalog;
  private final CursorPins cursors;
  private final TransactionPins transactions;
  private volatile boolean routing = true;

  Planner(
      Mongoses mongoses,
      @Nullable RoutingCatalog catalog,
      CursorPins cursors,
      TransactionPins transactions) {
    this.mongoses = mongoses;
    this.catalog = catalog;
    this.cursors = cursors;
    this.transactions = transactions;
  }

  /** Whether new operations are routed. If they are not, they go to the nearest mongos. */
  boolean isRouting() {
    return routing && catalog != null;
  }

  void setRouting(boolean on) {
    routing = on;
  }

  /**
   * Chooses the route of a command by the loaded table.
   *
   * @return null if no mongos is usable yet
   */
  @Nullable RoutePlan plan(TargetedCommand command) {
    if (command.isGetMore() && command.cursorId() != 0) {
      return RoutePlan.of(ofCursor(command.cursorId()));
    }
    if (command.isInTransaction() && !command.startsTransaction()) {
      ServerAddressName pinned = transactions.of(command.session(), command.transactionNumber());
      return pinned == null
              || (command.endsTransaction() && command.isRecoverable() && !mongoses.isUp(pinned))
          ? toNearest(RouteDecision.TRANSACTION, command)
          : RoutePlan.of(new Route(RouteDecision.TRANSACTION, pinned));
    }
    boolean routed = isRouting();
    if (routed
        && mongoses.hasZones()
        && command.isOperation()
        && !command.isInTransaction()
        && PreferredZones.isOfAnyMember(command.readPreference())) {
      return toNearest(RouteDecision.PREFERRED_ZONE, command);
    }
    RoutingTable table =
        routed && catalog != null && command.isOperation()
            ? catalog.cached(command.namespace())
            : null;
    if (table == null) {
      return toNearest(RouteDecision.NO_TABLE, command);
    }
    if (command.isWriteList()) {
      return ofStatements(table, command);
    }
    return toShardOrNearest(shard(() -> command.target(table)), command);
  }

  /**
   * Chooses another route for a part of a split write after the part's mongos could not be reached.
   *
   * @return null if no mongos is usable yet
   */
  @Nullable Route again(Route route) {
    return route.shard() == null
        ? nearest(route.decision(), null)
        : mongoses.toShard(route.shard());
  }

  private Route ofCursor(long id) {
    CursorPins.Pin pin = cursors.use(id);
    if (pin == null) {
      throw new CommandFailure(
          ErrorCodes.CURSOR_NOT_FOUND, "CursorNotFound", "cursor id " + id + " not found");
    }
    return new Route(RouteDecision.NO_TABLE, pin.server());
  }

  private @Nullable RoutePlan toNearest(RouteDecision decision, TargetedCommand command) {
    return orNull(nearest(decision, command.readPreference()));
  }

  private @Nullable Route nearest(RouteDecision decision, @Nullable BsonDocument readPreference) {
    ServerAddressName nearest = mongoses.nearest(readPreference);
    return nearest == null ? null : new Route(decision, nearest);
  }

  private static @Nullable RoutePlan orNull(@Nullable Route route) {
    return route == null ? null : RoutePlan.of(route);
  }

  /**
   * The single shard of a target; null if the target has several shards. Also null if the command
   * is invalid: it then goes to the nearest mongos, which returns the error.
   */
  private static @Nullable String shard(Supplier<Target> targeting) {
    try {
      Target target = targeting.get();
      return target.isSingleShard() ? target.shard() : null;
    } catch (RuntimeException e) {
      log.debug("no decision: a mongos executes the command and returns the error", e);
      return null;
    }
  }

  private @Nullable RoutePlan ofStatements(RoutingTable table, TargetedCommand command) {
    List<RawBsonDocument> statements = command.statements();
    if (statements.size() == 1) {
      return toShardOrNearest(shard(() -> command.target(table, statements.get(0))), command);
    }
    List<Optional<String>> shards = new ArrayList<>(statements.size());
    for (RawBsonDocument statement : statements) {
      shards.add(Optional.ofNullable(shard(() -> command.target(table, statement))));
    }
    Set<Optional<String>> distinct = new HashSet<>(shards);
    if (distinct.isEmpty()) {
      return toNearest(RouteDecision.SEVERAL_SHARDS, command);
    }
    if (distinct.size() != 1 && !command.isInTransaction()) {
      return command.isSplittable()
          ? split(command, shards, distinct)
          : toNearest(RouteDecision.SEVERAL_SHARDS, command);
    }
    return toShardOrNearest(shards.get(0).orElse(null), command);
  }

  private @Nullable RoutePlan toShardOrNearest(@Nullable String shard, TargetedCommand command) {
    return shard == null
        ? toNearest(RouteDecision.SEVERAL_SHARDS, command)
        : orNull(mongoses.toShard(shard));
  }

  private @Nullable RoutePlan split(
      TargetedCommand command, List<Optional<String>> shards, Set<Optional<String>> distinct) {
    Map<Optional<String>, Route> routes = new HashMap<>();
    for (Optional<String> shard : distinct) {
      Route route =
          shard.isEmpty()
              ? nearest(RouteDecision.SEVERAL_SHARDS, null)
              : mongoses.toShard(shard.get());
      if (route == null) {
        return null;
      }
      routes.put(shard, route);
    }
    List<SplitWrite.Part> parts =
        SplitWrite.parts(shards.stream().map(routes::get).toList(), command.isOrdered());
    return command.isOrdered() && !paysToSplit(parts)
        ? toNearest(RouteDecision.SEVERAL_SHARDS, command)
        : new RoutePlan(null, parts);
  }

  /**
   * Whether an ordered write is split. It is split if its parts, one after another, take at most a
   * third longer than the whole write over the nearest mongos. The nearest mongos would also send
   * the statements to one shard after another. The round trip from the nearest mongos to a shard is
   * not known. It is at least the difference between two known round trips: from this client to the
   * shard, and from this client to the nearest mongos. This difference is the estimate.
   */
  private boolean paysToSplit(List<SplitWrite.Part> parts) {
    double nearest = mongoses.nearestRoundTripNanos();
    Map<Route, Double> distances = new HashMap<>();
    double split = 0;
    double whole = 0;
    for (SplitWrite.Part part : parts) {
      double there =
          distances.computeIfAbsent(part.route(), route -> (double) mongoses.roundTripNanos(route));
      split += there;
      whole += Math.abs(there - nearest);
    }
    return split <= (nearest + whole) * HARDLY_LONGER;
  }
}
