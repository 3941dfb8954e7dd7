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
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One official client per shard: its seed list is the mongoses beside the shard and a few others,
 * and it prefers the first as long as one of them is up. A mongos that dies is then the driver's
 * own failover, with the session and transaction number of a retryable write unchanged.
 *
 * <p>Thread-safe.
 */
public final class ShardClients implements AutoCloseable {
  private static final int FALLBACKS = 2;

  private final MongoClientSettings settings;
  private volatile Map<String, ShardClient> clients = Map.of();
  private boolean closed;

  /**
   * A client whose operations a mongos beside a shard serves.
   *
   * @param shard the shard's id
   * @param beside the mongoses that it prefers
   * @param seeds all mongoses that it may use
   * @param client the official client
   */
  public record ShardClient(
      String shard, Set<ServerAddress> beside, List<ServerAddress> seeds, MongoClient client) {}

  /**
   * @param settings what the application asked for: everything but the addresses is kept
   */
  public ShardClients(MongoClientSettings settings) {
    this.settings = settings;
  }

  /** The client of a shard, null if no mongos stands beside it. */
  public @Nullable ShardClient find(String shard) {
    return clients.get(shard);
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
    Map<String, ShardClient> before = clients;
    Map<String, ShardClient> now = new HashMap<>();
    for (String shard : affinity.shardsWithRouter()) {
      Set<ServerAddress> beside = new LinkedHashSet<>();
      affinity.besideShard(shard).forEach(router -> beside.add(address(router)));
      List<ServerAddress> seeds = seeds(beside, affinity.routers());
      ShardClient old = before.get(shard);
      now.put(
          shard,
          old != null && old.beside().equals(beside) && old.seeds().equals(seeds)
              ? old
              : new ShardClient(shard, beside, seeds, create(beside, seeds)));
    }
    clients = Map.copyOf(now);
    List<MongoClient> unused = new ArrayList<>();
    before.forEach(
        (shard, old) -> {
          if (!Objects.equals(now.get(shard), old)) {
            unused.add(old.client());
          }
        });
    return unused;
  }

  @Override
  public synchronized void close() {
    closed = true;
    clients.values().forEach(each -> each.client().close());
    clients = Map.of();
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
