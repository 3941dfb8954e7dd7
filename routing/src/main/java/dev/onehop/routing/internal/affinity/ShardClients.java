package dev.onehop.routing.internal.affinity;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.reactivestreams.client.MongoClient;
import com.mongodb.reactivestreams.client.MongoClients;
import dev.onehop.routing.internal.wire.ServerAddressName;
import java.util.ArrayList;
import java.util.HashMap;
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
  private volatile Map<String, ShardClient> clients = Map.of();
  private boolean closed;

  /** A client whose operations the mongoses beside a shard serve. Compared by identity. */
  public static final class ShardClient {
    private final Set<ServerAddress> beside;
    private final List<ServerAddress> seeds;
    private final MongoClient client;

    private ShardClient(Set<ServerAddress> beside, List<ServerAddress> seeds, MongoClient client) {
      this.beside = Set.copyOf(beside);
      this.seeds = List.copyOf(seeds);
      this.client = client;
    }

    /** The official client. */
    public MongoClient client() {
      return client;
    }

    private boolean leadsTo(Set<ServerAddress> otherBeside, List<ServerAddress> otherSeeds) {
      return beside.equals(otherBeside) && seeds.equals(otherSeeds);
    }
  }

  /**
   * Has no clients yet.
   *
   * @param settings what the application asked for: everything but the addresses is kept
   * @param nearest the application's own client, made of {@code settings}; never closed here
   */
  public ShardClients(MongoClientSettings settings, MongoClient nearest) {
    this.settings = settings;
    this.nearest = nearest;
  }

  /** The client of a shard, null if no mongos stands beside it. */
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
   * @return the clients that are no longer needed; the caller closes them when nothing uses them
   */
  public synchronized List<MongoClient> update(Affinity affinity) {
    if (closed) {
      return List.of();
    }
    Set<ShardClient> known = new LinkedHashSet<>(clients.values());
    Map<String, ShardClient> now = new HashMap<>();
    for (String shard : affinity.shardsWithRouter()) {
      Set<ServerAddress> beside = new LinkedHashSet<>();
      affinity.besideShard(shard).forEach(router -> beside.add(address(router)));
      List<ServerAddress> seeds = seeds(beside, affinity.routers());
      ShardClient client =
          known.stream()
              .filter(each -> each.leadsTo(beside, seeds))
              .findFirst()
              .orElseGet(() -> new ShardClient(beside, seeds, clientOf(beside, seeds)));
      known.add(client);
      now.put(shard, client);
    }
    clients = Map.copyOf(now);
    known.removeAll(now.values());
    return owned(known);
  }

  @Override
  public synchronized void close() {
    closed = true;
    owned(Set.copyOf(clients.values())).forEach(MongoClient::close);
    clients = Map.of();
  }

  private List<MongoClient> owned(Set<ShardClient> some) {
    return some.stream().map(ShardClient::client).filter(client -> client != nearest).toList();
  }

  private MongoClient clientOf(Set<ServerAddress> beside, List<ServerAddress> seeds) {
    ClusterSettings asked = settings.getClusterSettings();
    boolean sameAsNearest =
        asked.getSrvHost() == null
            && asked.getMode() != ClusterConnectionMode.LOAD_BALANCED
            && beside.containsAll(seeds)
            && beside.equals(Set.copyOf(asked.getHosts()));
    return sameAsNearest ? nearest : create(beside, seeds);
  }

  private List<ServerAddress> seeds(Set<ServerAddress> beside, List<ServerAddressName> routers) {
    List<ServerAddress> seeds = new ArrayList<>(beside);
    // The application's own seeds first: they are what it would use without routing.
    Set<ServerAddress> others = new LinkedHashSet<>(settings.getClusterSettings().getHosts());
    routers.forEach(router -> others.add(address(router)));
    others.removeAll(beside);
    others.stream().limit(FALLBACKS).forEach(seeds::add);
    return List.copyOf(seeds);
  }

  private MongoClient create(Set<ServerAddress> beside, List<ServerAddress> seeds) {
    ClusterSettings asked = settings.getClusterSettings();
    ClusterSettings here =
        ClusterSettings.builder()
            .hosts(seeds)
            .mode(ClusterConnectionMode.MULTIPLE)
            .serverSelector(new BesideSelector(beside, asked.getServerSelector()))
            .localThreshold(asked.getLocalThreshold(TimeUnit.NANOSECONDS), TimeUnit.NANOSECONDS)
            .serverSelectionTimeout(
                asked.getServerSelectionTimeout(TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS)
            .clusterListenerList(asked.getClusterListeners())
            .build();
    return MongoClients.create(
        MongoClientSettings.builder(settings)
            .applyToClusterSettings(builder -> builder.applySettings(here))
            .build());
  }

  private static ServerAddress address(ServerAddressName name) {
    return new ServerAddress(name.host(), name.port());
  }
}
