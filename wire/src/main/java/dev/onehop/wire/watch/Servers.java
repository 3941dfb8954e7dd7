package dev.onehop.wire.watch;

import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import com.mongodb.selector.ServerSelector;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.connection.Connections;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import dev.onehop.wire.watch.ServerWatches.Watched;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.bson.BsonDocument;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Servers as official clients see them, which are there for nothing else than to watch them: those
 * that settings name, the <i>seeds</i>, together, and further mongoses each by itself. What a
 * command finds out comes sooner, and counts until a server was looked at again.
 *
 * <p>Thread-safe.
 */
public class Servers implements ServerSet {
  /** How long a server that has failed is passed over if its monitor has noticed nothing. */
  private static final Duration DISTRUST = Duration.ofSeconds(1);

  /** How long a server is waited for that has neither answered nor failed. */
  private static final Duration FIRST_ANSWER = Duration.ofSeconds(2);

  private final MongoClientSettings settings;
  private final PreferredZones zones;
  private final Predicate<ServerDescription> allowed;
  private final Watcher watcher;
  private final LongSupplier nanoTime;
  private final long localThresholdNanos;
  private final ServerWait wait;
  private final Watched seeds;
  private final ServerWatches others;
  // When each server has failed last.
  private final Map<ServerAddressName, Long> failedNanos = new ConcurrentHashMap<>();
  private final Map<ServerAddress, ServerAddressName> names = new ConcurrentHashMap<>();

  /** Starts to watch. */
  public interface Watcher {
    /**
     * Watches the servers that the settings name.
     *
     * @param changed called after something has changed, on threads that hold the driver's locks
     */
    ServerMonitor watch(MongoClientSettings settings, Runnable changed);
  }

  /**
   * Begins with the seeds.
   *
   * @param settings of the clients that watch, with the application's server selector
   * @param zones that the application prefers
   * @param allowed leaves out servers that must not be used
   * @param nanoTime {@link System#nanoTime}, or a clock of tests
   */
  protected Servers(
      MongoClientSettings settings,
      PreferredZones zones,
      Predicate<ServerDescription> allowed,
      Watcher watcher,
      LongSupplier nanoTime) {
    ClusterSettings cluster = settings.getClusterSettings();
    this.settings = settings;
    this.zones = zones;
    this.allowed = allowed;
    this.watcher = watcher;
    this.nanoTime = nanoTime;
    this.localThresholdNanos = cluster.getLocalThreshold(TimeUnit.NANOSECONDS);
    this.wait =
        new ServerWait(Duration.ofMillis(cluster.getServerSelectionTimeout(TimeUnit.MILLISECONDS)));
    this.seeds = watched(settings);
    this.others = new ServerWatches(server -> watched(SingleServer.alone(settings, server)));
  }

  /**
   * Watches the servers that the settings name.
   *
   * @param mapping of the names that members of a replica set call each other; null if these are
   *     the names by which they are reached
   * @param zones that the application prefers
   * @param connections to the servers, which are reset when one is lost; stay the caller's
   */
  public static Servers of(
      MongoClientSettings asked,
      @Nullable UnaryOperator<ServerAddressName> mapping,
      PreferredZones zones,
      Connections connections) {
    ClusterSettings cluster = asked.getClusterSettings();
    Watcher byTheDriver = byTheDriver(connections);
    boolean discovered =
        cluster.getMode() == ClusterConnectionMode.MULTIPLE && cluster.getSrvHost() == null;
    return new Servers(
        watching(asked, zones),
        zones,
        server -> true,
        mapping == null || !discovered
            ? byTheDriver
            : (settings, changed) -> new MemberWatch(settings, mapping, byTheDriver, changed),
        System::nanoTime);
  }

  /** Watches by a client of the driver's, and resets the connections to servers that it loses. */
  protected static Watcher byTheDriver(Connections connections) {
    return (settings, changed) -> new DriverWatch(settings, connections, changed);
  }

  /**
   * Watches replica sets with the settings' timeouts, TLS and listeners.
   *
   * @param mapping as in {@link #of}, also of the names in {@code config.shards}
   */
  public static Factory replicaSets(
      MongoClientSettings asked,
      @Nullable UnaryOperator<ServerAddressName> mapping,
      PreferredZones zones,
      Connections connections) {
    return connectionString ->
        of(replicaSet(asked, connectionString, mapping), mapping, zones, connections);
  }

  private static MongoClientSettings replicaSet(
      MongoClientSettings asked,
      String connectionString,
      @Nullable UnaryOperator<ServerAddressName> mapping) {
    int slash = connectionString.indexOf('/');
    ClusterSettings of = asked.getClusterSettings();
    ClusterSettings set =
        ClusterSettings.builder()
            .mode(ClusterConnectionMode.MULTIPLE)
            .hosts(
                ServerAddressName.members(connectionString).stream()
                    .map(name -> mapping == null ? name : mapping.apply(name))
                    .map(SingleServer::address)
                    .toList())
            .requiredReplicaSetName(connectionString.substring(0, Math.max(0, slash)))
            .clusterListenerList(of.getClusterListeners())
            .localThreshold(of.getLocalThreshold(TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS)
            .serverSelectionTimeout(
                of.getServerSelectionTimeout(TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS)
            .build();
    return MongoClientSettings.builder(asked)
        .applyToClusterSettings(cluster -> cluster.applySettings(set))
        .build();
  }

  /** Where zones are preferred, a server that comes back is noticed soon. */
  private static MongoClientSettings watching(MongoClientSettings asked, PreferredZones zones) {
    return MongoClientSettings.builder(zones.isEmpty() ? asked : SingleServer.soonHeard(asked))
        .applyToClusterSettings(cluster -> cluster.serverSelector(null))
        .applyToConnectionPoolSettings(pool -> pool.minSize(0))
        .build();
  }

  private Watched watched(MongoClientSettings of) {
    return new Watched(watcher.watch(of, wait::changed), nanoTime.getAsLong());
  }

  /** What is known of the seeds. */
  public final ClusterDescription seeds() {
    return seeds.watch().description();
  }

  /** As the URI or, as far as that was read, a DNS record names them. */
  protected final Set<ServerAddress> seedNames() {
    ClusterSettings asked = settings.getClusterSettings();
    return asked.getSrvHost() == null
        ? Set.copyOf(asked.getHosts())
        : seeds.servers().stream().map(ServerDescription::getAddress).collect(Collectors.toSet());
  }

  /**
   * Watches these mongoses, too, each by itself, and no others but the seeds.
   *
   * @param then done when all of them are watched, and those of before still are
   */
  protected final void watchAlone(Set<ServerAddress> wanted, Runnable then) {
    others.follow(wanted, then);
    wait.changed();
  }

  /** All servers, each once. */
  public final List<ServerDescription> all() {
    List<ServerDescription> all = new ArrayList<>(seeds.servers());
    for (Watched other : others.open().values()) {
      for (ServerDescription server : servers(other)) {
        if (find(server.getAddress(), all) == null) {
          all.add(server);
        }
      }
    }
    return all;
  }

  /** The seeds that may be used now. */
  public final List<ServerDescription> usableSeeds() {
    ServerSelector asked = settings.getClusterSettings().getServerSelector();
    ClusterDescription cluster = seeds();
    return usable(asked == null ? cluster.getServerDescriptions() : asked.select(cluster));
  }

  /** The other mongoses that may be used now. */
  public final List<ServerDescription> usableOthers() {
    List<ServerDescription> found = all();
    List<ServerDescription> known = seeds.servers();
    found.removeIf(server -> find(server.getAddress(), known) != null);
    return usable(selected(found));
  }

  /**
   * Those of some servers that may be used now.
   *
   * @return null if that can't be told yet: near servers answer before far ones
   */
  protected final @Nullable List<ServerDescription> usableOf(List<ServerAddress> wanted) {
    Map<ServerAddress, Watched> alone = others.open();
    List<ServerDescription> servers = List.of();
    boolean undecided = false;
    for (ServerAddress name : wanted) {
      Watched watched = alone.getOrDefault(name, seeds);
      ServerDescription server = find(name, servers(watched));
      if (server != null && server.isOk()) {
        servers = with(server, servers);
      } else if (server == null || !hasFailed(server)) {
        undecided |= nanoTime.getAsLong() - watched.sinceNanos() < FIRST_ANSWER.toNanos();
      }
    }
    return servers.isEmpty() && undecided ? null : usable(selected(servers));
  }

  /** An address of the metadata at which there is no mongos any more has no server. */
  private List<ServerDescription> servers(Watched watched) {
    List<ServerDescription> servers = watched.servers();
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
      if (server.isOk() && allowed.test(server)) {
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

  /**
   * A connection to a server broke, or the server said that it goes away. The pools have seen to
   * their connections. A command from before the server's last failure says nothing new: its
   * connection was an older one. Source: the drivers' specification "Server Discovery and
   * Monitoring", on errors of an earlier generation.
   *
   * @param sentNanos when the command was sent, by {@link System#nanoTime}
   */
  public final void failed(ServerAddressName server, long sentNanos) {
    failedNanos.compute(
        server, (name, last) -> last != null && sentNanos - last < 0 ? last : System.nanoTime());
  }

  /** Those that have not just failed. */
  protected final List<ServerDescription> trusted(List<ServerDescription> usable) {
    if (failedNanos.isEmpty()) {
      return usable;
    }
    List<ServerDescription> trusted = List.of();
    for (ServerDescription server : usable) {
      if (isTrusted(server)) {
        trusted = with(server, trusted);
      }
    }
    return trusted;
  }

  protected final boolean isTrusted(ServerDescription server) {
    Long failed = failedNanos.isEmpty() ? null : failedNanos.get(name(server));
    return failed == null
        || server.getLastUpdateTime(TimeUnit.NANOSECONDS) - failed > 0
        || System.nanoTime() - failed > DISTRUST.toNanos();
  }

  protected static boolean hasFailed(ServerDescription server) {
    return server.getException() != null;
  }

  protected final ServerAddressName name(ServerDescription server) {
    ServerAddressName name = names.get(server.getAddress());
    return name != null ? name : names.computeIfAbsent(server.getAddress(), SingleServer::name);
  }

  private Server server(ServerDescription description) {
    return new Server(name(description), description.getMaxWireVersion());
  }

  @Override
  public final @Nullable Server primary() {
    for (ServerDescription server : seeds.servers()) {
      if (server.isOk() && server.isPrimary() && server.getType() != ServerType.SHARD_ROUTER) {
        return server(server);
      }
    }
    return null;
  }

  @Override
  public final Mono<Server> select(@Nullable BsonDocument readPreference) {
    return wait.until(
        () -> {
          ServerDescription chosen = chosen(readPreference);
          return chosen == null ? null : server(chosen);
        },
        this::check,
        () -> notFound(readPreference));
  }

  /** Waits for a choice, which is made again whenever something has changed. */
  public final <T> Mono<T> awaited(Supplier<@Nullable T> choice) {
    return wait.until(choice, this::check, () -> notFound(null));
  }

  /** Checks all servers soon. Never blocks. */
  protected void check() {
    seeds.watch().checkNow();
    others.checkNow();
  }

  /**
   * One of the seeds.
   *
   * @param readPreference where there is a replica set, null for its primary
   * @return null if none is up
   */
  protected final @Nullable ServerDescription chosen(@Nullable BsonDocument readPreference) {
    List<ServerDescription> usable = usableSeeds();
    ClusterDescription cluster = seeds();
    if (cluster.getType() == ClusterType.REPLICA_SET
        && cluster.getConnectionMode() != ClusterConnectionMode.SINGLE) {
      usable = new ArrayList<>(usable);
      usable.retainAll(ReadPreferences.of(readPreference).choose(cluster));
    }
    return nearest(inZone(trusted(usable), readPreference));
  }

  /** Those of the first preferred zone that lives; none while that can't be told. */
  protected final List<ServerDescription> inZone(
      List<ServerDescription> servers, @Nullable BsonDocument readPreference) {
    if (zones.isEmpty() || servers.isEmpty()) {
      return servers;
    }
    ClusterDescription cluster = seeds();
    if (cluster.getType() == ClusterType.REPLICA_SET
        && !PreferredZones.isOfAnyMember(readPreference)) {
      return zones.first(servers);
    }
    List<ServerDescription> first =
        zones.first(servers, cluster, nanoTime.getAsLong() - seeds.sinceNanos());
    if (!first.isEmpty()) {
      serves(zones.rank(first.get(0).getAddress()));
    }
    return first;
  }

  /** Takes note of the zone that serves what any server can serve. */
  protected void serves(int zone) {}

  /** One of those that are hardly farther than the nearest; null if there is none. */
  protected final @Nullable ServerDescription nearest(List<ServerDescription> servers) {
    return ServerWait.choose(servers, localThresholdNanos);
  }

  /** The zones that the application prefers. */
  public final PreferredZones zones() {
    return zones;
  }

  @Override
  public final @Nullable String zoneReason(ServerAddressName server) {
    return zones.reason(SingleServer.address(server));
  }

  /** What is told if no server was found in time. */
  protected Throwable notFound(@Nullable BsonDocument readPreference) {
    ClusterSettings asked = settings.getClusterSettings();
    return noneInTime(
        "server of "
            + (asked.getSrvHost() == null
                ? asked.getHosts()
                : "mongodb+srv://" + asked.getSrvHost())
            + " that fits read preference "
            + ReadPreferences.of(readPreference).getName());
  }

  protected final CommandFailure noneInTime(String what) {
    return new CommandFailure(
        ErrorCodes.FAILED_TO_SATISFY_READ_PREFERENCE,
        "FailedToSatisfyReadPreference",
        "no "
            + what
            + " was found within "
            + settings.getClusterSettings().getServerSelectionTimeout(TimeUnit.MILLISECONDS)
            + " ms: "
            + listed(" is unreachable: "));
  }

  /**
   * All servers, and what is known of each.
   *
   * @param unreachable stands between a server and why it can't be reached
   */
  protected final String listed(String unreachable) {
    List<String> servers = new ArrayList<>();
    for (ServerDescription each : all()) {
      servers.add(name(each) + state(each, unreachable));
    }
    Throwable unresolved = seeds().getSrvResolutionException();
    if (unresolved != null) {
      // Which SRV record could not be looked up, and why.
      servers.add(unresolved.getMessage() + " " + rootMessage(unresolved));
    }
    return servers.isEmpty() ? "no name is known yet" : String.join(", ", servers);
  }

  private String state(ServerDescription server, String unreachable) {
    Throwable why = server.getException();
    if (server.isOk()) {
      return !isTrusted(server)
          ? ": a connection to it has just broken"
          : server.getType() == ServerType.SHARD_ROUTER ? " is up" : " is " + server.getType();
    }
    return why == null ? " has not answered yet" : unreachable + rootMessage(why);
  }

  /** What went wrong in the first place. */
  public static String rootMessage(Throwable failure) {
    String message = null;
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof UnknownHostException) {
        return "unknown host " + each.getMessage();
      }
      message = each.getMessage() == null ? message : each.getMessage();
    }
    return String.valueOf(message);
  }

  @Override
  public void close() {
    others.close();
    seeds.watch().close();
  }
}
