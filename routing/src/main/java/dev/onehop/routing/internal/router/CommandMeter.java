package dev.onehop.routing.internal.router;

import com.mongodb.ContextProvider;
import com.mongodb.MongoClientSettings;
import dev.onehop.routing.RouteDecision;
import dev.onehop.routing.RoutingMeters;
import dev.onehop.routing.internal.direct.Journey;
import dev.onehop.routing.internal.wire.ServerAddressName;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Measures direct mode's commands, and has them observed where observations are asked for.
 *
 * <p>Thread-safe.
 */
public final class CommandMeter {
  private static final String NONE = "none";

  private final MeterRegistry registry;
  private final CommandObservations observations;
  // Looking a meter up by its tags costs more than routing does.
  private final Map<Key, Timer> timers = new ConcurrentHashMap<>();
  private final Counter handedOver;

  /** How a command ended. */
  enum Outcome {
    OK,
    FAILED,
    CANCELLED;

    private final String tag = name().toLowerCase(Locale.ROOT);
  }

  private record Key(
      String command,
      RouteDecision decision,
      @Nullable String shard,
      @Nullable ServerAddressName server,
      Outcome outcome) {}

  public CommandMeter(MeterRegistry registry, ObservationRegistry observations) {
    this.registry = registry;
    this.observations = new CommandObservations(observations);
    this.handedOver =
        registry.counter(
            RoutingMeters.FALLBACKS.meterName(), Tags.of("shard", NONE, "reason", "handed-over"));
  }

  /** Lets a client's commands tell whose they are. */
  void applyTo(MongoClientSettings.Builder settings, @Nullable ContextProvider asked) {
    observations.applyTo(settings, asked);
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
      Key key = new Key(command, decision, journey.shard(), journey.server(), outcome);
      Timer timer = timers.get(key);
      if (timer == null) {
        timer = timers.computeIfAbsent(key, CommandMeter.this::timer);
      }
      timer.record(System.nanoTime() - startNanos, TimeUnit.NANOSECONDS);
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

  private Timer timer(Key key) {
    return registry.timer(
        RoutingMeters.OPERATIONS.meterName(),
        Tags.of(
            "operation",
            key.command(),
            "mode",
            "direct",
            "decision",
            key.decision().tag(),
            "shard",
            key.shard() == null ? NONE : key.shard(),
            "server",
            key.server() == null ? NONE : key.server().toString(),
            "outcome",
            key.outcome().tag));
  }
}
