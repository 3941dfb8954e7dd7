package dev.onehop.routing.internal.affinity;

import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ServerDescription;
import com.mongodb.selector.ServerSelector;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Selects the mongoses beside a shard as long as one of them is up, and the others only then.
 *
 * <p>A new client hears from near mongoses before it hears from far ones. So for a moment after its
 * creation nothing is selected while a preferred mongos has neither answered nor failed; the driver
 * then waits for it.
 *
 * <p>Thread-safe.
 */
final class BesideSelector implements ServerSelector {
  private static final Duration FIRST_ANSWER = Duration.ofSeconds(2);

  private final Set<ServerAddress> beside;
  private final @Nullable ServerSelector asked;
  private final long createdNanos = System.nanoTime();

  /**
   * @param beside the preferred mongoses
   * @param asked the application's own selector, applied before
   */
  BesideSelector(Set<ServerAddress> beside, @Nullable ServerSelector asked) {
    this.beside = Set.copyOf(beside);
    this.asked = asked;
  }

  @Override
  public List<ServerDescription> select(ClusterDescription cluster) {
    List<ServerDescription> usable =
        (asked == null ? cluster.getServerDescriptions() : asked.select(cluster))
            .stream().filter(ServerDescription::isOk).toList();
    List<ServerDescription> preferred =
        usable.stream().filter(server -> beside.contains(server.getAddress())).toList();
    if (!preferred.isEmpty()) {
      return preferred;
    }
    return isNew() && isUndecided(cluster) ? List.of() : usable;
  }

  private boolean isNew() {
    return System.nanoTime() - createdNanos < FIRST_ANSWER.toNanos();
  }

  /** A new client's description lists a server only some time after its creation. */
  private boolean isUndecided(ClusterDescription cluster) {
    List<ServerDescription> heard =
        cluster.getServerDescriptions().stream()
            .filter(server -> beside.contains(server.getAddress()))
            .filter(server -> server.isOk() || server.getException() != null)
            .toList();
    return heard.size() < beside.size() && heard.stream().noneMatch(ServerDescription::isOk);
  }
}
