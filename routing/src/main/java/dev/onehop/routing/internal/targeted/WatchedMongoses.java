package dev.onehop.routing.internal.targeted;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import com.mongodb.selector.ServerSelector;
import dev.onehop.routing.internal.affinity.Affinity;
import dev.onehop.routing.internal.affinity.ClusterPin;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.watch.SingleServer;
import dev.onehop.wire.watch.Watching;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The mongoses, and what is known of them from watching each once: those that the URI names
 * together, and every further one that stands beside a shard by itself.
 *
 * <p>Thread-safe.
 */
final class WatchedMongoses implements AutoCloseable {
  /** As many are watched where there are so many, so that there is something to fall back on. */
  private static final int LEAST = 3;

  /** How long a mongos beside a shard is waited for that has neither answered nor failed. */
  private static final Duration FIRST_ANSWER = Duration.ofSeconds(2);

  private final MongoClientSettings settings;
  private final ClusterPin pin;
  private final Function<MongoClientSettings, Watching> watch;
  private final LongSupplier nanoTime;
  private final Watched seeds;
  private volatile Known known = new Known(Affinity.EMPTY, Map.of(), Map.of());
  private boolean closed;

  private record Watched(Watching watch, long sinceNanos) {}

  /**
   * @param beside per shard id its mongoses
   * @param others those that the URI does not name
   */
  private record Known(
      Affinity affinity,
      Map<String, List<ServerAddress>> beside,
      Map<ServerAddress, Watched> others) {}

  /**
   * Begins with those that the URI names.
   *
   * @param settings of the clients that watch, with the application's server selector
   * @param pin says which mongoses are of this cluster
   * @param watch starts to watch servers
   * @param nanoTime {@link System#nanoTime}, or a clock of tests
   */
  WatchedMongoses(
      MongoClientSettings settings,
      ClusterPin pin,
      Function<MongoClientSettings, Watching> watch,
      LongSupplier nanoTime) {
    this.settings = settings;
    this.pin = pin;
    this.watch = watch;
    this.nanoTime = nanoTime;
    this.seeds = watch(settings);
  }

  private Watched watch(MongoClientSettings of) {
    return new Watched(watch.apply(of), nanoTime.getAsLong());
  }

  /** What is known of the servers that the URI leads to. */
  ClusterDescription seeds() {
    return seeds.watch.description();
  }

  /** The servers that the URI leads to, as far as they may be used now. */
  List<ServerDescription> usableSeeds() {
    ServerSelector asked = settings.getClusterSettings().getServerSelector();
    ClusterDescription cluster = seeds();
    return usable(asked == null ? cluster.getServerDescriptions() : asked.select(cluster));
  }

  /** The other mongoses that may be used now. */
  List<ServerDescription> usableOthers() {
    List<ServerDescription> others = all();
    List<ServerDescription> seeds = seeds().getServerDescriptions();
    others.removeIf(server -> find(server.getAddress(), seeds) != null);
    return usable(selected(others));
  }

  /**
   * The mongoses beside a shard that may be used now.
   *
   * @return null if that can't be told yet: near mongoses answer before far ones
   */
  @Nullable List<ServerDescription> usableBeside(String shard) {
    Known now = known;
    List<ServerDescription> servers = List.of();
    boolean undecided = false;
    for (ServerAddress name : now.beside.getOrDefault(shard, List.of())) {
      Watched watched = now.others.getOrDefault(name, seeds);
      ServerDescription server = find(name, servers(watched));
      if (server != null && server.isOk()) {
        servers = with(server, servers);
      } else if (server == null || server.getException() == null) {
        undecided |= nanoTime.getAsLong() - watched.sinceNanos < FIRST_ANSWER.toNanos();
      }
    }
    return servers.isEmpty() && undecided ? null : usable(selected(servers));
  }

  /** An address of the metadata at which there is no mongos any more has no server. */
  private List<ServerDescription> servers(Watched watched) {
    List<ServerDescription> servers = watched.watch.description().getServerDescriptions();
    for (ServerDescription server : servers) {
      if (!watched.equals(seeds) && server.isOk() && server.getType() != ServerType.SHARD_ROUTER) {
        return List.of();
      }
    }
    return servers;
  }

  private static @Nullable ServerDescription find(
      ServerAddress name, List<ServerDescription> servers) {
    for (ServerDescription server : servers) {
      if (server.getAddress().equals(name)) {
        return server;
      }
    }
    return null;
  }

  /** Those of the servers that the application's own selector leaves of all. */
  private List<ServerDescription> selected(List<ServerDescription> servers) {
    ServerSelector asked = settings.getClusterSettings().getServerSelector();
    if (asked == null || servers.isEmpty()) {
      return servers;
    }
    List<ServerDescription> left =
        asked.select(
            new ClusterDescription(ClusterConnectionMode.MULTIPLE, ClusterType.SHARDED, all()));
    return servers.stream().filter(server -> find(server.getAddress(), left) != null).toList();
  }

  private List<ServerDescription> usable(List<ServerDescription> servers) {
    List<ServerDescription> usable = List.of();
    for (ServerDescription server : servers) {
      if (server.isOk() && pin.allows(server)) {
        usable = with(server, usable);
      }
    }
    return usable;
  }

  /** Every operation comes by here, and mostly there is just one: that is copied nowhere. */
  private static List<ServerDescription> with(
      ServerDescription server, List<ServerDescription> servers) {
    if (servers.isEmpty()) {
      return List.of(server);
    }
    List<ServerDescription> more = new ArrayList<>(servers);
    more.add(server);
    return more;
  }

  /** Which mongoses stand beside which shard. */
  Affinity affinity() {
    return known.affinity;
  }

  /** All servers, each once. */
  List<ServerDescription> all() {
    List<ServerDescription> all = new ArrayList<>(seeds().getServerDescriptions());
    for (Watched other : known.others.values()) {
      for (ServerDescription server : servers(other)) {
        if (find(server.getAddress(), all) == null) {
          all.add(server);
        }
      }
    }
    return all;
  }

  /** Checks all servers soon. Never blocks. */
  void checkNow() {
    seeds.watch.checkNow();
    known.others.values().forEach(each -> each.watch.checkNow());
  }

  /** Follows a new affinity. */
  void update(Affinity next) {
    replaced(next).forEach(each -> each.watch.close());
  }

  private synchronized Collection<Watched> replaced(Affinity next) {
    if (closed) {
      return List.of();
    }
    Map<String, List<ServerAddress>> beside = new HashMap<>();
    Set<ServerAddress> seedNames = seedNames();
    Set<ServerAddress> wanted = new LinkedHashSet<>(seedNames);
    for (String shard : next.shardsWithRouter()) {
      List<ServerAddress> names =
          next.besideShard(shard).stream().map(SingleServer::address).toList();
      beside.put(shard, names);
      wanted.addAll(names);
    }
    for (ServerAddressName router : next.routers()) {
      if (wanted.size() < LEAST) {
        wanted.add(SingleServer.address(router));
      }
    }
    wanted.removeAll(seedNames);
    Map<ServerAddress, Watched> gone = new HashMap<>(known.others);
    gone.keySet().removeAll(wanted);
    Map<ServerAddress, Watched> others = new HashMap<>(known.others);
    others.keySet().retainAll(wanted);
    wanted.forEach(name -> others.computeIfAbsent(name, this::watchAlone));
    known = new Known(next, beside, others);
    return gone.values();
  }

  /** As the URI or, as far as that was read, a DNS record names them. */
  private Set<ServerAddress> seedNames() {
    ClusterSettings asked = settings.getClusterSettings();
    return asked.getSrvHost() == null
        ? Set.copyOf(asked.getHosts())
        : seeds().getServerDescriptions().stream()
            .map(ServerDescription::getAddress)
            .collect(Collectors.toSet());
  }

  private Watched watchAlone(ServerAddress name) {
    ClusterSettings asked = settings.getClusterSettings();
    ClusterSettings alone =
        ClusterSettings.builder()
            .hosts(List.of(name))
            .mode(ClusterConnectionMode.SINGLE)
            .clusterListenerList(asked.getClusterListeners())
            .build();
    return watch(
        MongoClientSettings.builder(settings)
            .applyToClusterSettings(cluster -> cluster.applySettings(alone))
            .build());
  }

  @Override
  public synchronized void close() {
    closed = true;
    known.others.values().forEach(each -> each.watch.close());
    seeds.watch.close();
    known = new Known(Affinity.EMPTY, Map.of(), Map.of());
  }
}
