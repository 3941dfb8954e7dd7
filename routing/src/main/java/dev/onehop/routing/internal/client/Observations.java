package dev.onehop.routing.internal.client;

import com.mongodb.ContextProvider;
import com.mongodb.MongoClientSettings;
import com.mongodb.RequestContext;
import com.mongodb.ServerAddress;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.reactivestreams.client.ReactiveContextProvider;
import dev.onehop.routing.RoutingObservationContext;
import dev.onehop.routing.internal.client.OperationRouter.Route;
import dev.onehop.routing.internal.observation.MapRequestContext;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscriber;
import reactor.core.CoreSubscriber;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Observes operations for tracing. An operation's parent is the observation in the subscriber's
 * Reactor context, where Micrometer's context propagation keeps it; in its own context it is the
 * current one. The server is learned from the driver's command events, which are asked for only
 * where operations are observed.
 *
 * <p>Thread-safe.
 */
final class Observations {
  static final String NAME = "onehop.operation";

  /** The key of {@code ObservationThreadLocalAccessor}. */
  private static final String CURRENT = "micrometer.observation";

  private final ObservationRegistry registry;

  Observations(ObservationRegistry registry) {
    this.registry = registry;
  }

  boolean areOn() {
    return !registry.isNoop();
  }

  /** Settings whose commands tell the observed operations where they were sent. */
  MongoClientSettings listening(MongoClientSettings settings) {
    if (!areOn()) {
      return settings;
    }
    return MongoClientSettings.builder(settings)
        .contextProvider(new OperationContexts(settings.getContextProvider()))
        .addCommandListener(new Destinations())
        .build();
  }

  Observation start(String namespace, String operation, Route route, ContextView context) {
    RoutingObservationContext observed =
        new RoutingObservationContext(namespace, operation, route.decision(), route.shard());
    Observation observation =
        Observation.createNotStarted(NAME, () -> observed, registry)
            .contextualName(operation + " " + namespace)
            .lowCardinalityKeyValue("operation", operation)
            .lowCardinalityKeyValue("mode", "targeted")
            .lowCardinalityKeyValue("decision", route.decision().tag())
            .lowCardinalityKeyValue("shard", route.shard() == null ? "none" : route.shard())
            .highCardinalityKeyValue("namespace", namespace);
    if (context.getOrDefault(CURRENT, null) instanceof Observation parent) {
      observation.parentObservation(parent);
    }
    return observation.start();
  }

  static Context in(Context context, Observation observation) {
    return context.put(CURRENT, observation);
  }

  static void end(Observation observation) {
    if (observation.getContext() instanceof RoutingObservationContext context) {
      List<ServerAddress> servers = context.servers();
      observation.lowCardinalityKeyValue(
          KeyValue.of(
              "server", servers.isEmpty() ? "none" : servers.get(servers.size() - 1).toString()));
    }
    observation.stop();
  }

  /** Hands an operation's observation to its commands, beside what the application hands on. */
  private record OperationContexts(@Nullable ContextProvider asked)
      implements ReactiveContextProvider {
    @Override
    public RequestContext getContext(Subscriber<?> subscriber) {
      RequestContext context =
          asked instanceof ReactiveContextProvider reactive
              ? reactive.getContext(subscriber)
              : null;
      RequestContext known = context == null ? new MapRequestContext() : context;
      if (subscriber instanceof CoreSubscriber<?> core
          && core.currentContext().getOrDefault(CURRENT, null) instanceof Observation observation
          && observation.getContext() instanceof RoutingObservationContext operation) {
        known.put(RoutingObservationContext.class, operation);
      }
      return known;
    }
  }

  private static final class Destinations implements CommandListener {
    @Override
    public void commandStarted(CommandStartedEvent event) {
      RequestContext context = event.getRequestContext();
      if (context != null && context.hasKey(RoutingObservationContext.class)) {
        RoutingObservationContext operation = context.get(RoutingObservationContext.class);
        operation.sentTo(event.getConnectionDescription().getServerAddress());
      }
    }
  }
}
