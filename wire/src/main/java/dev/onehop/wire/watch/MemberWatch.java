package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.watch.ServerWatches.Watched;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Watches the members of a replica set one by one, each under the name by which this application
 * reaches it. The driver's own discovery uses only the names that members have for each other. The
 * set of members and the newest of several primaries are determined as in the specification "Server
 * Discovery and Monitoring".
 *
 * <p>Thread-safe.
 */
final class MemberWatch implements ServerMonitor {
  private static final Comparator<ServerDescription> BY_ELECTION =
      Comparator.comparing(
              ServerDescription::getElectionId, Comparator.nullsFirst(Comparator.naturalOrder()))
          .thenComparing(
              ServerDescription::getSetVersion, Comparator.nullsFirst(Comparator.naturalOrder()));

  private final UnaryOperator<ServerAddressName> mapping;
  private final Runnable changed;
  private final ServerWatches members;

  /**
   * Starts to watch the members in the settings.
   *
   * @param mapping maps the names that members use for each other to the names that the application
   *     uses
   * @param watcher watches one member
   * @param changed called for every change
   */
  MemberWatch(
      MongoClientSettings settings,
      UnaryOperator<ServerAddressName> mapping,
      Servers.Watcher watcher,
      Runnable changed) {
    this.mapping = mapping;
    this.changed = changed;
    this.members =
        new ServerWatches(
            server ->
                new Watched(watcher.watch(SingleServer.alone(settings, server), this::follow), 0));
    synchronized (this) {
      members.follow(settings.getClusterSettings().getHosts(), () -> {});
    }
  }

  /**
   * Follows the member list of the newest primary; without a primary, the lists of all members
   * together.
   */
  private void follow() {
    // While a member is being added, its monitor calls this method on the same thread. The members
    // must not be changed then.
    if (!Thread.holdsLock(this)) {
      synchronized (this) {
        members.follow(wanted(), () -> {});
      }
    }
    changed.run();
  }

  private Set<ServerAddress> wanted() {
    List<ServerDescription> known = members.servers().toList();
    ServerDescription primary = newestPrimary(known);
    Set<ServerAddress> wanted = new HashSet<>(primary == null ? members.open().keySet() : Set.of());
    for (ServerDescription each : primary == null ? known : List.of(primary)) {
      if (each.isOk() && each.isReplicaSetMember()) {
        Stream.concat(each.getHosts().stream(), each.getPassives().stream())
            .map(name -> mapping.apply(ServerAddressName.parse(name)))
            .forEach(name -> wanted.add(SingleServer.address(name)));
      }
    }
    return wanted;
  }

  private static @Nullable ServerDescription newestPrimary(List<ServerDescription> known) {
    return known.stream()
        .filter(each -> each.isOk() && each.getType() == ServerType.REPLICA_SET_PRIMARY)
        .max(BY_ELECTION)
        .orElse(null);
  }

  @Override
  public ClusterDescription description() {
    List<ServerDescription> known = members.servers().toList();
    ServerDescription primary = newestPrimary(known);
    List<ServerDescription> servers = new ArrayList<>();
    ClusterType type = ClusterType.UNKNOWN;
    for (ServerDescription each : known) {
      boolean deposed = each.getType() == ServerType.REPLICA_SET_PRIMARY && !each.equals(primary);
      servers.add(
          deposed ? ServerDescription.builder(each).type(ServerType.UNKNOWN).build() : each);
      if (type == ClusterType.UNKNOWN) {
        type = each.getClusterType();
      }
    }
    return new ClusterDescription(ClusterConnectionMode.MULTIPLE, type, servers);
  }

  @Override
  public void checkNow() {
    members.checkNow();
  }

  @Override
  public void close() {
    members.close();
  }
}
