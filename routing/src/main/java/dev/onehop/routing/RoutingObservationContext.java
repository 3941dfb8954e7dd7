package dev.onehop.routing;

import com.mongodb.ServerAddress;
import io.micrometer.observation.Observation;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * What an observation of an operation knows of its route. The observation is named {@code
 * onehop.operation}; its key values are {@code operation}, {@code decision}, {@code shard}, {@code
 * mode}, {@code server} and, of high cardinality, {@code namespace}.
 *
 * <p>Thread-safe.
 */
public final class RoutingObservationContext extends Observation.Context {
  private final String namespace;
  private final String operation;
  private volatile RouteDecision decision;
  private volatile @Nullable String shard;
  private final List<ServerAddress> servers = new CopyOnWriteArrayList<>();

  /** For the routed client itself. */
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

  /** The method of the collection, such as {@code updateOne}; in direct mode the command. */
  public String operation() {
    return operation;
  }

  /** What was decided; in direct mode it is known when the command has ended. */
  public RouteDecision decision() {
    return decision;
  }

  /** The shard that owns what the operation touches; empty if there is not one. */
  public Optional<String> shard() {
    return Optional.ofNullable(shard);
  }

  /**
   * The servers that the operation's commands were sent to, in order: the last one has answered.
   * More than one after a retry, and for a read one entry for each batch. Empty before the first.
   */
  public List<ServerAddress> servers() {
    return List.copyOf(servers);
  }

  /** For the routed client itself: the decision fell later than the observation began. */
  public void decided(RouteDecision later, @Nullable String owner) {
    decision = later;
    shard = owner;
  }

  /** For the routed client itself: a command was sent. */
  public void sentTo(ServerAddress server) {
    servers.add(server);
  }
}
