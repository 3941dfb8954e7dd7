package dev.onehop.routing.internal.metrics;

import com.mongodb.ContextProvider;
import com.mongodb.MongoClientSettings;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RoutingMeters;
import dev.onehop.shards.request.Outcome;
import dev.onehop.shards.request.RequestMeter;
import dev.onehop.wire.ServerAddressName;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Measures the commands of a virtual mongos, and has them observed where observations are asked
 * for.
 *
 * <p>Thread-safe.
 */
public final class CommandMeter implements RequestMeter {
  private final MeterRegistry registry;
  private final CommandObservations observations;
  private final OperationTimers timers;
  private final Counter handedOver;

  /**
   * Measures what a mode routes that hands nothing over.
   *
   * @param mode the value of the tag {@code mode}
   */
  public CommandMeter(MeterRegistry registry, ObservationRegistry observations, String mode) {
    this(registry, observations, mode, handedOver(new CompositeMeterRegistry()));
  }

  private CommandMeter(
      MeterRegistry registry, ObservationRegistry observations, String mode, Counter handedOver) {
    this.registry = registry;
    this.observations = new CommandObservations(observations, mode);
    this.timers = new OperationTimers(registry, mode);
    this.handedOver = handedOver;
  }

  /** Measures what direct mode routes. */
  public static CommandMeter direct(MeterRegistry registry, ObservationRegistry observations) {
    return new CommandMeter(registry, observations, "direct", handedOver(registry));
  }

  private static Counter handedOver(MeterRegistry registry) {
    return registry.counter(
        RoutingMeters.FALLBACKS.meterName(),
        "shard",
        OperationTimers.NONE,
        "reason",
        "handed-over");
  }

  /** Lets a reactive client's commands tell whose they are. */
  public void applyTo(MongoClientSettings.Builder settings, @Nullable ContextProvider asked) {
    observations.applyTo(settings, asked);
  }

  /** Lets a synchronous client's commands tell whose they are. */
  public void applyToSync(MongoClientSettings.Builder settings, @Nullable ContextProvider asked) {
    observations.applyToSync(settings, asked);
  }

  @Override
  public Measured begin(int requestId) {
    return new UnderWay(requestId);
  }

  private final class UnderWay implements Measured {
    private final int requestId;
    private final long startNanos = System.nanoTime();
    private final Journey journey = new Journey();
    private String command = "";
    private String namespace = "";
    private @Nullable Observation observation;

    private UnderWay(int requestId) {
      this.requestId = requestId;
    }

    @Override
    public Journey trace() {
      return journey;
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
      List<Journey.Part> parts = journey.parts();
      if (parts.isEmpty()) {
        went(journey.decision(), journey.shard(), journey.server(), outcome, nanos);
        fallback(journey.decision(), journey.shard(), journey.isRouterDown());
      }
      for (Journey.Part part : parts) {
        went(part.decision(), part.shard(), part.server(), outcome, nanos);
        fallback(part.decision(), part.shard(), part.routerDown());
      }
      int stale = journey.staleRetries();
      if (stale > 0) {
        registry
            .counter(RoutingMeters.STALE_RETRIES.meterName(), "namespace", namespace)
            .increment(stale);
      }
      if (observation != null) {
        CommandObservations.end(observation, journey, failure);
      }
    }

    private void went(
        RouteDecision decision,
        @Nullable String shard,
        @Nullable ServerAddressName server,
        Outcome outcome,
        long nanos) {
      timers.of(command, decision, shard, server, outcome).record(nanos, TimeUnit.NANOSECONDS);
    }

    private void fallback(RouteDecision decision, @Nullable String shard, boolean routerDown) {
      if (decision == RouteDecision.HANDED_OVER) {
        handedOver.increment();
      } else if (shard != null && decision == RouteDecision.NO_ROUTER_BESIDE) {
        detour(shard, "no-router-beside");
      } else if (shard != null && routerDown) {
        detour(shard, "router-down");
      }
    }

    private void detour(String shard, String reason) {
      registry
          .counter(RoutingMeters.FALLBACKS.meterName(), "shard", shard, "reason", reason)
          .increment();
    }
  }
}
