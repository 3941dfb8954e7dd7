package dev.onehop.routing.internal.metrics;

import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RoutingMeters;
import dev.onehop.shards.request.CommandTrace;
import dev.onehop.shards.request.Outcome;
import dev.onehop.shards.request.RequestMeter;
import dev.onehop.wire.ServerAddressName;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Measures the commands of a virtual mongos, and reports observations if an observation registry is
 * set.
 *
 * <p>Thread-safe.
 */
public final class CommandMeter implements RequestMeter {
  /**
   * The value of the tags {@code shard} and {@code server} if there is no single shard or server.
   */
  private static final String NONE = "none";

  private final MeterRegistry registry;
  private final CommandObservations observations;
  private final String mode;
  // A cache, because a lookup of a meter by its tags costs more than routing.
  private final Map<Key, Timer> timers = new ConcurrentHashMap<>();
  private final Counter handedOver;

  /**
   * Creates a meter for any mode except direct mode.
   *
   * @param mode the value of the tag {@code mode}
   */
  public CommandMeter(MeterRegistry registry, ObservationRegistry observations, String mode) {
    this(
        registry, observations, mode, fallbacks(new CompositeMeterRegistry(), NONE, "handed-over"));
  }

  private CommandMeter(
      MeterRegistry registry, ObservationRegistry observations, String mode, Counter handedOver) {
    this.registry = registry;
    this.observations = new CommandObservations(observations, mode);
    this.mode = mode;
    this.handedOver = handedOver;
  }

  /** Creates a meter for direct mode. */
  public static CommandMeter direct(MeterRegistry registry, ObservationRegistry observations) {
    return new CommandMeter(
        registry, observations, "direct", fallbacks(registry, NONE, "handed-over"));
  }

  private record Key(
      String operation,
      RouteDecision decision,
      @Nullable String shard,
      @Nullable ServerAddressName server,
      Outcome outcome) {}

  private static Counter fallbacks(MeterRegistry registry, String shard, String reason) {
    return registry.counter(RoutingMeters.FALLBACKS.meterName(), "shard", shard, "reason", reason);
  }

  /** The observations of commands. */
  public CommandObservations observations() {
    return observations;
  }

  @Override
  public CommandTrace begin(int requestId) {
    return new UnderWay(requestId);
  }

  private final class UnderWay extends RouteTrace {
    private final int requestId;
    private final long startNanos = System.nanoTime();
    private String command = "";
    private String namespace = "";
    private @Nullable Observation observation;

    private UnderWay(int requestId) {
      this.requestId = requestId;
    }

    @Override
    public void is(String name, String collection) {
      command = name;
      namespace = collection;
      if (observation == null && observations.areOn()) {
        observation = observations.start(requestId, name, collection);
      }
    }

    @Override
    public void end(Outcome outcome, @Nullable Throwable failure) {
      long nanos = System.nanoTime() - startNanos;
      List<Route> parts = parts();
      if (parts.isEmpty()) {
        went(decision(), shard(), server(), isRouterDown(), outcome, nanos);
      }
      for (Route part : parts) {
        went(part.decision(), part.shard(), part.server(), part.routerDown(), outcome, nanos);
      }
      int stale = staleRetries();
      if (stale > 0) {
        registry
            .counter(RoutingMeters.STALE_RETRIES.meterName(), "namespace", namespace)
            .increment(stale);
      }
      if (observation != null) {
        CommandObservations.end(observation, this, failure);
      }
    }

    private void went(
        RouteDecision decision,
        @Nullable String shard,
        @Nullable ServerAddressName server,
        boolean routerDown,
        Outcome outcome,
        long nanos) {
      timer(new Key(command, decision, shard, server, outcome)).record(nanos, TimeUnit.NANOSECONDS);
      if (decision == RouteDecision.HANDED_OVER) {
        handedOver.increment();
      } else if (shard != null
          && (decision == RouteDecision.NO_ROUTER_BESIDE
              || decision == RouteDecision.NOT_KNOWN_YET)) {
        detour(shard, decision.tag());
      } else if (shard != null && routerDown) {
        detour(shard, "router-down");
      }
    }

    private void detour(String shard, String reason) {
      fallbacks(registry, shard, reason).increment();
    }
  }

  private Timer timer(Key key) {
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
