package dev.onehop.routing.internal.metrics;

import com.mongodb.ContextProvider;
import com.mongodb.MongoClientSettings;
import com.mongodb.RequestContext;
import com.mongodb.ServerAddress;
import com.mongodb.client.SynchronousContextProvider;
import com.mongodb.event.CommandFailedEvent;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import com.mongodb.reactivestreams.client.ReactiveContextProvider;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RoutingObservationContext;
import dev.onehop.wire.ServerAddressName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/**
 * Reports observations of a virtual mongos' commands, for tracing. The parent of a command's
 * observation is the observation in the subscriber's Reactor context or of the calling thread. The
 * driver's command event contains this parent and the request id, and comes before the request. So
 * the parent is found by the request id.
 *
 * <p>Thread-safe.
 */
public final class CommandObservations implements CommandListener {
  private static final String NAME = "onehop.operation";

  /** The key under which {@code ObservationThreadLocalAccessor} stores the observation. */
  private static final String CURRENT = "micrometer.observation";

  private static final String PARENT = "dev.onehop.parent";

  private final ObservationRegistry registry;
  private final String mode;
  private final Map<Integer, Observation> parents = new ConcurrentHashMap<>();

  CommandObservations(ObservationRegistry registry, String mode) {
    this.registry = registry;
    this.mode = mode;
  }

  boolean areOn() {
    return !registry.isNoop();
  }

  /**
   * Adds a context provider and a listener to the settings of a synchronous client. They record the
   * parents of the client's commands.
   */
  public void applyToSync(MongoClientSettings.Builder settings, @Nullable ContextProvider own) {
    if (areOn()) {
      SynchronousContextProvider known =
          () ->
              with(
                  own instanceof SynchronousContextProvider given ? given.getContext() : null,
                  registry.getCurrentObservation());
      settings.contextProvider(known).addCommandListener(this);
    }
  }

  /**
   * Adds a context provider and a listener to the settings of a reactive client. They record the
   * parents of the client's commands.
   */
  public void applyTo(MongoClientSettings.Builder settings, @Nullable ContextProvider own) {
    if (areOn()) {
      ReactiveContextProvider known =
          subscriber ->
              with(
                  own instanceof ReactiveContextProvider given
                      ? given.getContext(subscriber)
                      : null,
                  subscriber instanceof CoreSubscriber<?> core
                      ? core.currentContext().getOrDefault(CURRENT, null)
                      : null);
      settings.contextProvider(known).addCommandListener(this);
    }
  }

  /** The application's request context, or a new one, with the parent of the command. */
  private static RequestContext with(@Nullable RequestContext given, @Nullable Object parent) {
    RequestContext context = given == null ? new MapRequestContext() : given;
    if (parent instanceof Observation) {
      context.put(PARENT, parent);
    }
    return context;
  }

  @Override
  public void commandStarted(CommandStartedEvent event) {
    RequestContext context = event.getRequestContext();
    if (context != null && context.hasKey(PARENT)) {
      parents.put(event.getRequestId(), context.<Observation>get(PARENT));
    }
  }

  @Override
  public void commandSucceeded(CommandSucceededEvent event) {
    parents.remove(event.getRequestId());
  }

  @Override
  public void commandFailed(CommandFailedEvent event) {
    parents.remove(event.getRequestId());
  }

  Observation start(int requestId, String command, String namespace) {
    RoutingObservationContext observed =
        new RoutingObservationContext(namespace, command, RouteDecision.NO_TABLE, null);
    Observation observation =
        Observation.createNotStarted(NAME, () -> observed, registry)
            .contextualName(command + " " + namespace)
            .lowCardinalityKeyValue("operation", command)
            .lowCardinalityKeyValue("mode", mode)
            .highCardinalityKeyValue("namespace", namespace);
    Observation parent = parents.remove(requestId);
    if (parent != null) {
      observation.parentObservation(parent);
    }
    return observation.start();
  }

  static void end(Observation observation, RouteTrace trace, @Nullable Throwable failure) {
    String shard = trace.shard();
    ServerAddressName server = trace.server();
    if (observation.getContext() instanceof RoutingObservationContext context) {
      context.decided(trace.decision(), shard);
      trace.servers().forEach(each -> context.sentTo(new ServerAddress(each.host(), each.port())));
    }
    if (failure != null) {
      observation.error(failure);
    }
    observation
        .lowCardinalityKeyValue("decision", trace.decision().tag())
        .lowCardinalityKeyValue("shard", shard == null ? "none" : shard)
        .lowCardinalityKeyValue("server", server == null ? "none" : server.toString())
        .stop();
  }
}
