package dev.onehop.routing.observation;

import com.mongodb.ServerAddress;
import io.micrometer.observation.Observation;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The context of an operation's observation, with its route. The observation is named {@code
 * onehop.operation}; its key values of low cardinality are {@code operation}, {@code decision},
 * {@code shard}, {@code mode} and {@code server}. The key value {@code namespace} has high
 * cardinality.
 *
 * <p>Thread-safe.
 */
public final class RoutingObservationContext extends Observation.Context {
  private final String namespace;
  private final String operation;
  private volatile RouteDecision decision;
  private volatile @Nullable String shard;
  private final List<ServerAddress> servers = new CopyOnWriteArrayList<>();

  /** Called by the router. */
  public RoutingObservationContext(
      String namespace, String operation, RouteDecision decision, @Nullable String shard) {
    this.namespace = namespace;
    this.operation = operation;
    this.decision = decision;
    this.shard = shard;
  }

  /** Database and collection. */
  public String namespace() {
    return namespace;
  }

  /** The command, such as {@code update}. */
  public String operation() {
    return operation;
  }

  /** The routing decision; known when the command has ended. */
  public RouteDecision decision() {
    return decision;
  }

  /** The shard that owns all data that the operation touches; empty if there is no single owner. */
  public Optional<String> shard() {
    return Optional.ofNullable(shard);
  }

  /**
   * The servers that the command was sent to, in order. There are several after a retry by the
   * router, and for a split command. If a command that was not split succeeds, the last server has
   * replied. The list is complete when the command has ended.
   */
  public List<ServerAddress> servers() {
    return List.copyOf(servers);
  }

  /** Called by the router when the decision is known, after the observation has started. */
  public void decided(RouteDecision later, @Nullable String owner) {
    decision = later;
    shard = owner;
  }

  /** Called by the router when a command was sent. */
  public void sentTo(ServerAddress server) {
    servers.add(server);
  }
}
