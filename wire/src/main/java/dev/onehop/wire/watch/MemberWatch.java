package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import dev.onehop.wire.ServerAddressName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Schedulers;

/**
 * Watches the members of a replica set one by one, each under the name by which this application
 * reaches it. The driver's own discovery knows only the names that members call each other. Who is
 * a member, and which of two primaries is the newer, is determined as in the specification "Server
 * Discovery and Monitoring".
 *
 * <p>Thread-safe.
 */
final class MemberWatch implements Watching {
  private static final Comparator<ServerDescription> BY_ELECTION =
      Comparator.comparing(
              ServerDescription::getElectionId, Comparator.nullsFirst(Comparator.naturalOrder()))
          .thenComparing(
              ServerDescription::getSetVersion, Comparator.nullsFirst(Comparator.naturalOrder()));

  private final MongoClientSettings settings;
  private final UnaryOperator<ServerAddressName> mapping;
  private final Servers.Watcher watcher;
  private final Runnable changed;
  private volatile Map<ServerAddressName, Watching> members = Map.of();
  private boolean closed;

  /**
   * Begins to watch the members that the settings name.
   *
   * @param mapping from the names that members call each other
   * @param watcher watches one of them
   * @param changed told of every change
   */
  MemberWatch(
      MongoClientSettings settings,
      UnaryOperator<ServerAddressName> mapping,
      Servers.Watcher watcher,
      Runnable changed) {
    this.settings = settings;
    this.mapping = mapping;
    this.watcher = watcher;
    this.changed = changed;
    watch(settings.getClusterSettings().getHosts().stream().map(SingleServer::name).toList());
  }

  private synchronized void watch(Collection<ServerAddressName> wanted) {
    if (closed) {
      return;
    }
    Map<ServerAddressName, Watching> next = new HashMap<>(members);
    next.keySet().retainAll(wanted);
    wanted.forEach(name -> next.computeIfAbsent(name, this::watchAlone));
    members.forEach(
        (name, member) -> {
          if (!next.containsKey(name)) {
            // Not on its own monitor's thread, which may be the caller's.
            Schedulers.boundedElastic().schedule(member::close);
          }
        });
    members = Map.copyOf(next);
  }

  private Watching watchAlone(ServerAddressName name) {
    return watcher.watch(
        SingleServer.alone(
            settings,
            SingleServer.address(name),
            settings.getClusterSettings().getRequiredReplicaSetName()),
        this::follow);
  }

  /** As the newest primary has it; without a primary, as all of them together have it. */
  private void follow() {
    // Not while one is added, whose watch tells of itself at once.
    if (!Thread.holdsLock(this)) {
      synchronized (this) {
        Set<ServerAddressName> wanted = wanted();
        if (!wanted.equals(members.keySet())) {
          watch(wanted);
        }
      }
    }
    changed.run();
  }

  private Set<ServerAddressName> wanted() {
    List<ServerDescription> known = known();
    ServerDescription primary = newestPrimary(known);
    Set<ServerAddressName> wanted = new HashSet<>(primary == null ? members.keySet() : Set.of());
    for (ServerDescription each : primary == null ? known : List.of(primary)) {
      if (each.isOk() && each.isReplicaSetMember()) {
        for (Set<String> some : List.of(each.getHosts(), each.getPassives())) {
          some.forEach(name -> wanted.add(mapping.apply(ServerAddressName.parse(name))));
        }
      }
    }
    return wanted;
  }

  private List<ServerDescription> known() {
    List<ServerDescription> known = new ArrayList<>();
    members.values().forEach(each -> known.addAll(each.description().getServerDescriptions()));
    return known;
  }

  private static @Nullable ServerDescription newestPrimary(List<ServerDescription> known) {
    return known.stream()
        .filter(each -> each.isOk() && each.getType() == ServerType.REPLICA_SET_PRIMARY)
        .max(BY_ELECTION)
        .orElse(null);
  }

  @Override
  public ClusterDescription description() {
    List<ServerDescription> known = known();
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
    members.values().forEach(Watching::checkNow);
  }

  @Override
  public void close() {
    Map<ServerAddressName, Watching> open;
    synchronized (this) {
      closed = true;
      open = members;
      members = Map.of();
    }
    open.values().forEach(Watching::close);
  }
}
