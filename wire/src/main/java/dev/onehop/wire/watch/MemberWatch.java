package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import com.mongodb.event.ClusterDescriptionChangedEvent;
import com.mongodb.event.ClusterListener;
import dev.onehop.wire.ServerAddressName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
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
  private final @Nullable String replicaSet;
  private final UnaryOperator<ServerAddressName> mapping;
  private final Consumer<ClusterDescription> listener;
  private final Map<ServerAddressName, DriverWatch> clients = new HashMap<>();
  private final Map<ServerAddressName, ServerDescription> known = new HashMap<>();
  private final AtomicInteger changes = new AtomicInteger();
  private boolean closed;

  /**
   * Starts to watch.
   *
   * @param seeds some of the members, as this application reaches them
   * @param replicaSet the name that the set must have, null for any
   * @param mapping from the names that members call each other
   * @param listener told of every change
   */
  MemberWatch(
      MongoClientSettings settings,
      Collection<ServerAddressName> seeds,
      @Nullable String replicaSet,
      UnaryOperator<ServerAddressName> mapping,
      Consumer<ClusterDescription> listener) {
    this.settings = settings;
    this.replicaSet = replicaSet;
    this.mapping = mapping;
    this.listener = listener;
    synchronized (this) {
      seeds.forEach(this::watch);
    }
  }

  private void watch(ServerAddressName server) {
    if (!closed && !clients.containsKey(server)) {
      clients.put(server, connect(server));
    }
  }

  private DriverWatch connect(ServerAddressName server) {
    ClusterSettings asked = settings.getClusterSettings();
    ClusterSettings.Builder one =
        ClusterSettings.builder()
            .mode(ClusterConnectionMode.SINGLE)
            .hosts(List.of(SingleServer.address(server)))
            .serverSelectionTimeout(
                asked.getServerSelectionTimeout(TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS);
    if (replicaSet != null) {
      one.requiredReplicaSetName(replicaSet);
    }
    asked.getClusterListeners().forEach(one::addClusterListener);
    return new DriverWatch(
        MongoClientSettings.builder(settings)
            .applyToClusterSettings(cluster -> cluster.applySettings(one.build()))
            .build(),
        new ClusterListener() {
          @Override
          public void clusterDescriptionChanged(ClusterDescriptionChangedEvent event) {
            event
                .getNewDescription()
                .getServerDescriptions()
                .forEach(description -> changed(server, description));
          }
        });
  }

  private void changed(ServerAddressName server, ServerDescription description) {
    note(server, description);
    // One at a time and the newest last, without the lock.
    if (changes.getAndIncrement() == 0) {
      int seen = 1;
      do {
        listener.accept(description());
        seen = changes.addAndGet(-seen);
      } while (seen != 0);
    }
  }

  private synchronized void note(ServerAddressName server, ServerDescription description) {
    if (closed) {
      return;
    }
    known.put(server, description);
    if (description.isOk() && description.isReplicaSetMember()) {
      Set<ServerAddressName> members = members(description);
      members.forEach(this::watch);
      if (description.equals(newestPrimary())) {
        Set.copyOf(clients.keySet()).stream()
            .filter(each -> !members.contains(each))
            .forEach(this::forget);
      }
    }
    known.keySet().retainAll(clients.keySet());
  }

  private Set<ServerAddressName> members(ServerDescription description) {
    Set<ServerAddressName> members = new LinkedHashSet<>();
    for (Set<String> some : List.of(description.getHosts(), description.getPassives())) {
      some.forEach(name -> members.add(mapping.apply(ServerAddressName.parse(name))));
    }
    return members;
  }

  private void forget(ServerAddressName server) {
    DriverWatch gone = clients.remove(server);
    if (gone != null) {
      // Not on its own monitor's thread, which may be the caller's.
      Schedulers.boundedElastic().schedule(gone::close);
    }
  }

  private @Nullable ServerDescription newestPrimary() {
    return known.values().stream()
        .filter(each -> each.isOk() && each.getType() == ServerType.REPLICA_SET_PRIMARY)
        .max(BY_ELECTION)
        .orElse(null);
  }

  @Override
  public synchronized ClusterDescription description() {
    ServerDescription primary = newestPrimary();
    List<ServerDescription> servers = new ArrayList<>();
    ClusterType type = ClusterType.UNKNOWN;
    for (ServerDescription each : known.values()) {
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
    List<DriverWatch> open;
    synchronized (this) {
      open = List.copyOf(clients.values());
    }
    open.forEach(DriverWatch::checkNow);
  }

  @Override
  public void close() {
    List<DriverWatch> open;
    synchronized (this) {
      closed = true;
      open = List.copyOf(clients.values());
      clients.clear();
    }
    open.forEach(DriverWatch::close);
  }
}
