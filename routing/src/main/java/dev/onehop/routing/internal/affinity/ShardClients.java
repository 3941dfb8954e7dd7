package dev.onehop.routing.internal.affinity;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.internal.wire.ServerAddressName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Official clients that lead to the mongoses beside shards. The seed list of each is the mongoses
 * beside a shard and a few others, and it prefers the first as long as one of them is up. A mongos
 * that dies is then the driver's own failover, with the session and transaction number of a
 * retryable write unchanged.
 *
 * <p>Shards beside the same mongoses share a client, and with it its pools, whose size is a bound
 * per mongos; where the application's own client has just these mongoses, they share that one.
 *
 * <p>Thread-safe.
 */
public final class ShardClients implements AutoCloseable {
  private static final int FALLBACKS = 2;

  private final MongoClientSettings settings;
  private final MongoClient nearest;
  private final BesideSelector nearestSelector;
  private final ClusterPin pin;
  private final Connector connect;
  private volatile Map<String, ShardClient> clients = Map.of();
  private volatile Affinity affinity = Affinity.EMPTY;
  private final Set<MongoClient> replaced = Collections.newSetFromMap(new IdentityHashMap<>());
  private boolean closed;

  /** A client whose operations the mongoses beside a shard serve. Compared by identity. */
  public static final class ShardClient {
    private final Set<ServerAddress> beside;
    private final List<ServerAddress> seeds;
    private final MongoClient client;
    private final BesideSelector selector;

    private ShardClient(
        Set<ServerAddress> beside,
        List<ServerAddress> seeds,
        MongoClient client,
        BesideSelector selector) {
      this.beside = Set.copyOf(beside);
      this.seeds = List.copyOf(seeds);
      this.client = client;
      this.selector = selector;
    }

    /** The official client. */
    public MongoClient client() {
      return client;
    }

    /** The mongoses that it leads to, as long as one of them is up. */
    public List<ServerAddress> servers() {
      return seeds.subList(0, beside.size());
    }

    /** Whether its operations go elsewhere now, since none of these mongoses is up. */
    public boolean isFallingBack() {
      return selector.isFallingBack();
    }

    /** The mongos that was selected last, or one of them where the driver had a choice. */
    public @Nullable ServerAddress server() {
      return selector.selected();
    }

    private boolean leadsTo(Set<ServerAddress> otherBeside, List<ServerAddress> otherSeeds) {
      return beside.equals(otherBeside) && seeds.equals(otherSeeds);
    }
  }

  /**
   * The client on the nearest mongos that an application's settings lead to, held to one cluster.
   *
   * @param connect makes official clients; never asked on the way of an operation
   */
  public ShardClients(MongoClientSettings settings, ClusterPin pin, Connector connect) {
    this.settings = settings;
    this.pin = pin;
    this.connect = connect;
    this.nearestSelector =
        new BesideSelector(Set.of(), settings.getClusterSettings().getServerSelector(), pin);
    boolean guarded =
        settings.getClusterSettings().getMode() != ClusterConnectionMode.LOAD_BALANCED;
    this.nearest =
        connect.connect(
            guarded
                ? MongoClientSettings.builder(settings)
                    .applyToClusterSettings(builder -> builder.serverSelector(nearestSelector))
                    .build()
                : settings);
  }

  /** The client that leads where the application's own settings do. */
  public MongoClient nearest() {
    return nearest;
  }

  /** The mongos that the nearest client selected last; null before. */
  public @Nullable ServerAddress nearestServer() {
    return nearestSelector.selected();
  }

  /** Whether a shard's mongoses stand beside it, not just on the shortest way to it. */
  public boolean isBeside(String shard) {
    return affinity.ofShard(shard).isBeside();
  }

  /** The client of a shard's mongoses, null if it has none. */
  public @Nullable ShardClient find(String shard) {
    return clients.get(shard);
  }

  /** The official clients of all shards, each once. */
  public Set<MongoClient> all() {
    Set<MongoClient> all = new LinkedHashSet<>();
    clients.values().forEach(each -> all.add(each.client()));
    return all;
  }

  /**
   * Follows a new affinity: clients whose mongoses did not change stay, others are replaced.
   *
   * @return the clients that are no longer needed; the caller has them {@linkplain #end ended} when
   *     nothing uses them
   */
  public synchronized List<MongoClient> update(Affinity next) {
    if (closed) {
      return List.of();
    }
    Set<ShardClient> known = new LinkedHashSet<>(clients.values());
    Map<String, ShardClient> now = new HashMap<>();
    for (String shard : next.shardsWithRouter()) {
      Set<ServerAddress> beside = new LinkedHashSet<>();
      next.besideShard(shard).forEach(router -> beside.add(SingleServer.address(router)));
      List<ServerAddress> seeds = seeds(beside, next.routers());
      ShardClient client =
          known.stream()
              .filter(each -> each.leadsTo(beside, seeds))
              .findFirst()
              .orElseGet(() -> clientOf(beside, seeds));
      known.add(client);
      now.put(shard, client);
    }
    clients = Map.copyOf(now);
    affinity = next;
    known.removeAll(now.values());
    List<MongoClient> unneeded = owned(known);
    replaced.addAll(unneeded);
    return unneeded;
  }

  /** Closes a client that was replaced, unless all were closed meanwhile. */
  public void end(MongoClient unneeded) {
    if (forget(unneeded)) {
      unneeded.close();
    }
  }

  private synchronized boolean forget(MongoClient unneeded) {
    return replaced.remove(unneeded);
  }

  @Override
  public synchronized void close() {
    closed = true;
    pin.whileAllowingFarewells(
        () -> {
          replaced.forEach(MongoClient::close);
          owned(Set.copyOf(clients.values())).forEach(MongoClient::close);
          nearest.close();
        });
    replaced.clear();
    clients = Map.of();
  }

  private List<MongoClient> owned(Set<ShardClient> some) {
    return some.stream().map(ShardClient::client).filter(client -> client != nearest).toList();
  }

  private ShardClient clientOf(Set<ServerAddress> beside, List<ServerAddress> seeds) {
    ClusterSettings asked = settings.getClusterSettings();
    boolean sameAsNearest =
        asked.getSrvHost() == null
            && asked.getMode() != ClusterConnectionMode.LOAD_BALANCED
            && beside.containsAll(seeds)
            && beside.equals(Set.copyOf(asked.getHosts()));
    if (sameAsNearest) {
      return new ShardClient(beside, seeds, nearest, nearestSelector);
    }
    BesideSelector selector = new BesideSelector(beside, asked.getServerSelector(), pin);
    return new ShardClient(beside, seeds, create(seeds, selector), selector);
  }

  private List<ServerAddress> seeds(Set<ServerAddress> beside, List<ServerAddressName> routers) {
    List<ServerAddress> seeds = new ArrayList<>(beside);
    // The application's own seeds first: they are what it would use without routing.
    Set<ServerAddress> others = new LinkedHashSet<>(settings.getClusterSettings().getHosts());
    routers.forEach(router -> others.add(SingleServer.address(router)));
    others.removeAll(beside);
    others.stream().limit(FALLBACKS).forEach(seeds::add);
    return List.copyOf(seeds);
  }

  private MongoClient create(List<ServerAddress> seeds, BesideSelector selector) {
    ClusterSettings asked = settings.getClusterSettings();
    ClusterSettings here =
        ClusterSettings.builder()
            .hosts(seeds)
            .mode(ClusterConnectionMode.MULTIPLE)
            .serverSelector(selector)
            .localThreshold(asked.getLocalThreshold(TimeUnit.NANOSECONDS), TimeUnit.NANOSECONDS)
            .serverSelectionTimeout(
                asked.getServerSelectionTimeout(TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS)
            .clusterListenerList(asked.getClusterListeners())
            .build();
    return connect.connect(
        MongoClientSettings.builder(settings)
            .applyToClusterSettings(builder -> builder.applySettings(here))
            .applyToServerSettings(
                builder ->
                    builder.applySettings(SingleServer.soonHeard(settings.getServerSettings())))
            .build());
  }
}
