package dev.onehop.routing.internal.router;

import com.mongodb.ContextProvider;
import com.mongodb.MongoClientSettings;
import dev.onehop.routing.RouteDecision;
import dev.onehop.routing.RoutingMeters;
import dev.onehop.routing.RoutingMode;
import dev.onehop.routing.internal.command.Journey;
import dev.onehop.routing.internal.metrics.OperationTimers;
import dev.onehop.routing.internal.metrics.Outcome;
import dev.onehop.routing.internal.wire.ServerAddressName;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Measures direct mode's commands, and has them observed where observations are asked for.
 *
 * <p>Thread-safe.
 */
public final class CommandMeter {
  private final MeterRegistry registry;
  private final CommandObservations observations;
  private final OperationTimers<ServerAddressName> timers;
  private final Counter handedOver;

  public CommandMeter(MeterRegistry registry, ObservationRegistry observations) {
    this.registry = registry;
    this.observations = new CommandObservations(observations);
    this.timers = new OperationTimers<>(registry, RoutingMode.DIRECT);
    this.handedOver =
        registry.counter(
            RoutingMeters.FALLBACKS.meterName(),
            Tags.of("shard", OperationTimers.NONE, "reason", "handed-over"));
  }

  /** Lets a reactive client's commands tell whose they are. */
  void applyTo(MongoClientSettings.Builder settings, @Nullable ContextProvider asked) {
    observations.applyTo(settings, asked);
  }

  /** Lets a synchronous client's commands tell whose they are. */
  void applyToSync(MongoClientSettings.Builder settings, @Nullable ContextProvider asked) {
    observations.applyToSync(settings, asked);
  }

  /**
   * A command has arrived.
   *
   * @param requestId the number under which the client sent it
   */
  Measured begin(int requestId) {
    return new Measured(requestId);
  }

  /** A command under way. Used by one thread at a time, but for its journey. */
  final class Measured {
    private final int requestId;
    private final long startNanos = System.nanoTime();
    private final Journey journey = new Journey();
    private String command = "";
    private String namespace = "";
    private @Nullable Observation observation;

    private Measured(int requestId) {
      this.requestId = requestId;
    }

    Journey journey() {
      return journey;
    }

    /** What it is, said at least once before it ends. */
    void is(String name, String collection) {
      command = name;
      namespace = collection;
      if (observation == null && observations.areOn()) {
        observation = observations.start(requestId, name, collection);
      }
    }

    void end(Outcome outcome, @Nullable Throwable failure) {
      RouteDecision decision = journey.decision();
      timers
          .of(command, decision, journey.shard(), journey.server(), outcome)
          .record(System.nanoTime() - startNanos, TimeUnit.NANOSECONDS);
      if (decision == RouteDecision.HANDED_OVER) {
        handedOver.increment();
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
  }
}
