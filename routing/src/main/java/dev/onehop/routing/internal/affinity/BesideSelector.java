package dev.onehop.routing.internal.affinity;

import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ServerDescription;
import com.mongodb.selector.ServerSelector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Selects the mongoses beside a shard as long as one of them is up, and the others only then. A
 * mongos of another cluster is never selected.
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
  private final ClusterPin pin;
  private final long createdNanos = System.nanoTime();
  private volatile boolean fallingBack;

  /**
   * @param beside the preferred mongoses; empty to prefer none
   * @param asked the application's own selector, applied before
   */
  BesideSelector(Set<ServerAddress> beside, @Nullable ServerSelector asked, ClusterPin pin) {
    this.beside = Set.copyOf(beside);
    this.asked = asked;
    this.pin = pin;
  }

  @Override
  public List<ServerDescription> select(ClusterDescription cluster) {
    List<ServerDescription> candidates =
        asked == null ? cluster.getServerDescriptions() : asked.select(cluster);
    List<ServerDescription> preferred = usable(candidates, true);
    if (!preferred.isEmpty()) {
      note(false);
      return preferred;
    }
    if (!beside.isEmpty() && isNew() && isUndecided(cluster)) {
      return List.of();
    }
    List<ServerDescription> others = usable(candidates, false);
    if (!others.isEmpty()) {
      note(!beside.isEmpty());
    }
    return others;
  }

  /** Every operation comes by here, and mostly there is just one: that makes no list of its own. */
  private List<ServerDescription> usable(List<ServerDescription> candidates, boolean preferred) {
    List<ServerDescription> usable = List.of();
    for (ServerDescription server : candidates) {
      if (server.isOk()
          && pin.allows(server)
          && beside.contains(server.getAddress()) == preferred) {
        if (usable.isEmpty()) {
          usable = List.of(server);
        } else {
          usable = new ArrayList<>(usable);
          usable.add(server);
        }
      }
    }
    return usable;
  }

  /** Whether the last selection had to do without the preferred mongoses. */
  boolean isFallingBack() {
    return fallingBack;
  }

  /** Written only when it changes: every operation comes by here. */
  private void note(boolean fallback) {
    if (fallback != fallingBack) {
      fallingBack = fallback;
    }
  }

  private boolean isNew() {
    return System.nanoTime() - createdNanos < FIRST_ANSWER.toNanos();
  }

  /** A new client's description lists a server only some time after its creation. */
  private boolean isUndecided(ClusterDescription cluster) {
    int heard = 0;
    for (ServerDescription server : cluster.getServerDescriptions()) {
      if (beside.contains(server.getAddress())) {
        if (server.isOk()) {
          return false;
        }
        heard += server.getException() != null ? 1 : 0;
      }
    }
    return heard < beside.size();
  }

  @Override
  public String toString() {
    return "BesideSelector{beside=" + beside + ", cluster=" + pin.clusterId() + "}";
  }
}
