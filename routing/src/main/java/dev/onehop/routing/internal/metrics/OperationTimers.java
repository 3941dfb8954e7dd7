package dev.onehop.routing.internal.metrics;

import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RoutingMeters;
import dev.onehop.shards.request.Outcome;
import dev.onehop.wire.ServerAddressName;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The timers of {@link RoutingMeters#OPERATIONS} of one mode.
 *
 * <p>Thread-safe.
 */
public final class OperationTimers {
  /** The tag's value where there is no shard or no server. */
  public static final String NONE = "none";

  private final MeterRegistry registry;
  private final String mode;
  // Looking a meter up by its tags costs more than routing does.
  private final Map<Key, Timer> timers = new ConcurrentHashMap<>();

  private record Key(
      String operation,
      RouteDecision decision,
      @Nullable String shard,
      @Nullable ServerAddressName server,
      Outcome outcome) {}

  public OperationTimers(MeterRegistry registry, String mode) {
    this.registry = registry;
    this.mode = mode;
  }

  /** The timer of operations that went and ended so. */
  public Timer of(
      String operation,
      RouteDecision decision,
      @Nullable String shard,
      @Nullable ServerAddressName server,
      Outcome outcome) {
    Key key = new Key(operation, decision, shard, server, outcome);
    Timer timer = timers.get(key);
    return timer != null ? timer : timers.computeIfAbsent(key, this::register);
  }

  private Timer register(Key key) {
    return registry.timer(
        RoutingMeters.OPERATIONS.meterName(),
        "operation",
        key.operation(),
        "mode",
        mode,
        "decision",
        key.decision().tag(),
        "shard",
        key.shard() == null ? NONE : key.shard(),
        "server",
        key.server() == null ? NONE : key.server().toString(),
        "outcome",
        key.outcome().tag());
  }
}
