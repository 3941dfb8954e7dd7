package dev.onehop.routing.internal.affinity;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.connection.ServerDescription;
import com.mongodb.reactivestreams.client.MongoClient;
import dev.onehop.routing.spi.wire.ServerAddressName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Official clients that watch the mongoses beside shards. The seed list of each is the mongoses
 * beside a shard and a few others, and it prefers the first as long as one of them is up.
 *
 * <p>Shards beside the same mongoses share a client; where the seeds of the application are just
 * these mongoses, they share the one that watches the seeds.
 *
 * <p>Thread-safe.
 */
public final class ShardClients implements AutoCloseable {
  private static final int FALLBACKS = 2;

  /** A mongos that has not answered yet may be in another region. */
  private static final Duration UNKNOWN_ROUND_TRIP = Duration.ofMillis(60);

  private final MongoClientSettings settings;
  private final MongoClient nearest;
  private final BesideSelector nearestSelector;
  private final ClusterPin pin;
  private final Connector connect;
  private volatile Map<String, ShardClient> clients = Map.of();
  private volatile Affinity affinity = Affinity.EMPTY;
  // The driver's first round trips include what a new connection takes.
  private final AtomicLong quickestRead = new AtomicLong(Long.MAX_VALUE);
  private boolean closed;

  /** A client that watches the mongoses beside a shard. Compared by identity. */
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

    /**
     * The mongoses that an operation may go to now: those beside the shard if one of them is up.
     */
    public List<ServerDescription> usable() {
      return selector.select(client.getClusterDescription());
    }

    /** Whether operations go elsewhere now, since none of these mongoses is up. */
    public boolean isFallingBack() {
      return selector.isFallingBack();
    }

    /** How far the nearest of its mongoses is. */
    public long roundTripNanos() {
      return ShardClients.roundTripNanos(client, beside::contains);
    }

    /** Whether it prefers these mongoses, and falls back on as many of the others as it should. */
    private boolean leadsTo(Set<ServerAddress> otherBeside, Set<ServerAddress> others) {
      List<ServerAddress> fallbacks = seeds.subList(beside.size(), seeds.size());
      return beside.equals(otherBeside)
          && others.containsAll(fallbacks)
          && fallbacks.size() == Math.min(FALLBACKS, others.size());
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
    this.nearest = connect.connect(guarded(settings, nearestSelector));
  }

  private static MongoClientSettings guarded(
      MongoClientSettings settings, BesideSelector selector) {
    return MongoClientSettings.builder(settings)
        .applyToClusterSettings(builder -> builder.serverSelector(selector))
        .build();
  }

  /** The client that leads where the application's own settings do. */
  public MongoClient nearest() {
    return nearest;
  }

  /** The servers that the application's own settings lead to, as far as they may be used now. */
  public List<ServerDescription> nearestUsable() {
    return nearestSelector.select(nearest.getClusterDescription());
  }

  /**
   * Takes note of how long a read of ours over the nearest mongos took.
   *
   * @see #nearestRoundTripNanos
   */
  public void noteRead(long nanos) {
    quickestRead.accumulateAndGet(nanos, Math::min);
  }

  /** How far the nearest mongos is. */
  public long nearestRoundTripNanos() {
    return Math.min(roundTripNanos(nearest, server -> true), quickestRead.get());
  }

  private static long roundTripNanos(MongoClient client, Predicate<ServerAddress> which) {
    return client.getClusterDescription().getServerDescriptions().stream()
        .filter(server -> server.isOk() && which.test(server.getAddress()))
        .mapToLong(ServerDescription::getRoundTripTimeNanos)
        .min()
        .orElse(UNKNOWN_ROUND_TRIP.toNanos());
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
   * Follows a new affinity: clients that still lead to a shard's mongoses stay, others are replaced
   * and closed.
   */
  public void update(Affinity next) {
    replaced(next).forEach(MongoClient::close);
  }

  private synchronized List<MongoClient> replaced(Affinity next) {
    if (closed) {
      return List.of();
    }
    Set<ShardClient> known = new LinkedHashSet<>(clients.values());
    Map<String, ShardClient> now = new HashMap<>();
    for (String shard : next.shardsWithRouter()) {
      Set<ServerAddress> beside = new LinkedHashSet<>();
      next.besideShard(shard).forEach(router -> beside.add(SingleServer.address(router)));
      Set<ServerAddress> others = others(beside, next.routers());
      ShardClient client =
          known.stream()
              .filter(each -> each.leadsTo(beside, others))
              .findFirst()
              .orElseGet(() -> clientOf(beside, seeds(beside, others)));
      known.add(client);
      now.put(shard, client);
    }
    clients = Map.copyOf(now);
    affinity = next;
    known.removeAll(now.values());
    return owned(known).stream().map(ShardClient::client).toList();
  }

  @Override
  public synchronized void close() {
    closed = true;
    pin.whileAllowingFarewells(
        () -> {
          owned(Set.copyOf(clients.values())).forEach(each -> each.client().close());
          nearest.close();
        });
    clients = Map.of();
  }

  private List<ShardClient> owned(Set<ShardClient> some) {
    return some.stream().filter(each -> each.client() != nearest).toList();
  }

  private ShardClient clientOf(Set<ServerAddress> beside, List<ServerAddress> seeds) {
    ClusterSettings asked = settings.getClusterSettings();
    boolean sameAsNearest =
        asked.getSrvHost() == null
            && beside.containsAll(seeds)
            && beside.equals(Set.copyOf(asked.getHosts()));
    if (sameAsNearest) {
      return new ShardClient(beside, seeds, nearest, nearestSelector);
    }
    BesideSelector selector = new BesideSelector(beside, asked.getServerSelector(), pin);
    return new ShardClient(beside, seeds, create(seeds, selector), selector);
  }

  /** What may be fallen back on, the application's own seeds first: it would use them unrouted. */
  private Set<ServerAddress> others(Set<ServerAddress> beside, List<ServerAddressName> routers) {
    Set<ServerAddress> others = new LinkedHashSet<>(settings.getClusterSettings().getHosts());
    routers.forEach(router -> others.add(SingleServer.address(router)));
    others.removeAll(beside);
    return others;
  }

  private static List<ServerAddress> seeds(Set<ServerAddress> beside, Set<ServerAddress> others) {
    List<ServerAddress> seeds = new ArrayList<>(beside);
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
