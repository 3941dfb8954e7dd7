package dev.onehop.routing.internal.metrics;

import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.shards.request.CommandTrace;
import dev.onehop.wire.ServerAddressName;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import reactor.util.context.ContextView;

/**
 * The servers that one command was sent to, and the routing decision.
 *
 * <p>Thread-safe; complete when the command has ended.
 */
public class RouteTrace implements CommandTrace {
  // Almost all commands go to one server only. A list for a single server would create garbage per
  // command.
  private @Nullable ServerAddressName first;
  private @Nullable List<ServerAddressName> others;
  private @Nullable String shard;
  private RouteDecision decision = RouteDecision.NO_TABLE;
  private int staleRetries;
  private boolean routerDown;
  private @Nullable List<Route> parts;

  RouteTrace() {}

  /**
   * The trace of the command that a Reactor context belongs to; a new trace if the context has
   * none.
   */
  public static RouteTrace in(ContextView context) {
    return of(CommandTrace.in(context));
  }

  /** Casts a trace to a route trace; returns a new route trace if the trace has another type. */
  public static RouteTrace of(CommandTrace trace) {
    return trace instanceof RouteTrace route ? route : new RouteTrace();
  }

  @Override
  public synchronized void sent(String to, ServerAddressName server) {
    add(server);
    if (decision == RouteDecision.NO_TABLE) {
      shard = to;
      decision = RouteDecision.OWNER;
    } else if (!to.equals(shard)) {
      shard = null;
      decision = RouteDecision.SEVERAL_SHARDS;
    }
  }

  @Override
  public synchronized void handedOver(ServerAddressName mongos) {
    add(mongos);
    shard = null;
    decision = RouteDecision.HANDED_OVER;
  }

  /** Records that the command goes to a mongos. */
  public synchronized void targeted(Route route) {
    add(route.server());
    decision = route.decision();
    shard = route.shard();
    routerDown = route.routerDown();
  }

  /** Records that a part of the command goes to a mongos. */
  public synchronized void targetedPart(Route part) {
    add(part.server());
    if (parts == null) {
      parts = new ArrayList<>();
      decision = part.decision();
      shard = part.shard();
    } else if (!Objects.equals(shard, part.shard())) {
      decision = RouteDecision.SEVERAL_SHARDS;
      shard = null;
    }
    parts.add(part);
  }

  private void add(ServerAddressName server) {
    if (first == null) {
      first = server;
      return;
    }
    if (others == null) {
      others = new ArrayList<>();
    }
    others.add(server);
  }

  @Override
  public synchronized void refused() {
    staleRetries++;
    shard = null;
    decision = RouteDecision.NO_TABLE;
  }

  /** The parts of a split command; empty if it was not split. */
  synchronized List<Route> parts() {
    return parts == null ? List.of() : List.copyOf(parts);
  }

  /** Whether the mongos near the shard was down, so that the command went to another mongos. */
  synchronized boolean isRouterDown() {
    return routerDown;
  }

  synchronized RouteDecision decision() {
    return decision;
  }

  /** The one shard that the command went to; null if it went to no shard or to several shards. */
  synchronized @Nullable String shard() {
    return shard;
  }

  /**
   * The server that the command was last sent to; null if it was sent to no server, or to several
   * shards.
   */
  synchronized @Nullable ServerAddressName server() {
    return decision == RouteDecision.SEVERAL_SHARDS || first == null
        ? null
        : others == null ? first : others.get(others.size() - 1);
  }

  /** The servers that the command was sent to, in order. */
  synchronized List<ServerAddressName> servers() {
    List<ServerAddressName> servers = new ArrayList<>();
    if (first != null) {
      servers.add(first);
    }
    if (others != null) {
      servers.addAll(others);
    }
    return servers;
  }

  /** The number of times that a shard refused the command because the table was stale. */
  synchronized int staleRetries() {
    return staleRetries;
  }
}
