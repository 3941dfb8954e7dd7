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
 * Servers that are monitored by official clients. The servers in the settings, the <i>seeds</i>,
 * are watched by one client, and each further mongos by a separate client. A command may fail
 * before the monitor notices that a server is down. The server is then avoided until its monitor
 * has checked it again, but for a second at most.
 *
 * <p>Thread-safe.
 */
public class Servers implements ServerSet {
  /** The time for which a server is avoided after a failure that its monitor has not noticed. */
  private static final Duration DISTRUST = Duration.ofSeconds(1);

  /** The longest wait for the first reply or failure of a server. */
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
  // The time of each server's last failure, by System.nanoTime.
  private final Map<ServerAddressName, Long> failedNanos = new ConcurrentHashMap<>();
  private final Map<ServerAddress, ServerAddressName> names = new ConcurrentHashMap<>();

  /** Starts the monitoring. */
  public interface Watcher {
    /**
     * Starts to watch the servers in the settings.
     *
     * @param changed called after every change, on threads that hold the driver's locks
     */
    ServerMonitor watch(MongoClientSettings settings, Runnable changed);
  }

  /**
   * Starts to watch the seeds.
   *
   * @param settings the settings of the monitoring clients, with the application's server selector
   * @param zones the zones that the application prefers
   * @param allowed returns false for a server that must not be used
   * @param watcher starts the monitoring
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
   * Starts to watch the servers in the settings.
   *
   * @param mapping maps the names that members of a replica set use for each other to the names
   *     that the application uses; null if they are the same
   * @param zones the zones that the application prefers
   * @param connections the connections to the servers, which are reset when a server is lost; the
   *     caller closes them
   */
  public static Servers of(
      MongoClientSettings given,
      @Nullable UnaryOperator<ServerAddressName> mapping,
      PreferredZones zones,
      Connections connections) {
    ClusterSettings cluster = given.getClusterSettings();
    Watcher byTheDriver = byTheDriver(connections);
    boolean discovered =
        cluster.getMode() == ClusterConnectionMode.MULTIPLE && cluster.getSrvHost() == null;
    return new Servers(
        watching(given, zones),
        zones,
        server -> true,
        mapping == null || !discovered
            ? byTheDriver
            : (settings, changed) -> new MemberWatch(settings, mapping, byTheDriver, changed),
        System::nanoTime);
  }

  /**
   * A watcher with clients of the driver, which resets the connections to a server that is lost.
   */
  protected static Watcher byTheDriver(Connections connections) {
    return (settings, changed) -> new DriverWatch(settings, connections, changed);
  }

  /**
   * A factory that watches replica sets with the timeouts, TLS and listeners of the settings.
   *
   * @param mapping as in {@link #of}, also applied to the names in {@code config.shards}
   */
  public static Factory replicaSets(
      MongoClientSettings given,
      @Nullable UnaryOperator<ServerAddressName> mapping,
      PreferredZones zones,
      Connections connections) {
    return connectionString ->
        of(replicaSet(given, connectionString, mapping), mapping, zones, connections);
  }

  private static MongoClientSettings replicaSet(
      MongoClientSettings given,
      String connectionString,
      @Nullable UnaryOperator<ServerAddressName> mapping) {
    int slash = connectionString.indexOf('/');
    ClusterSettings of = given.getClusterSettings();
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
    return MongoClientSettings.builder(given)
        .applyToClusterSettings(cluster -> cluster.applySettings(set))
        .build();
  }

  /**
   * The settings of monitoring clients. With preferred zones, heartbeats are frequent and soon
   * notice a server that returns.
   */
  private static MongoClientSettings watching(MongoClientSettings given, PreferredZones zones) {
    return MongoClientSettings.builder(zones.isEmpty() ? given : SingleServer.soonHeard(given))
        .applyToClusterSettings(cluster -> cluster.serverSelector(null))
        .applyToConnectionPoolSettings(pool -> pool.minSize(0))
        .build();
  }

  private Watched watched(MongoClientSettings of) {
    return new Watched(watcher.watch(of, wait::changed), nanoTime.getAsLong());
  }

  /** The current state of the seeds. */
  public final ClusterDescription seeds() {
    return seeds.watch().description();
  }

  /** The seeds in the URI, or the seeds in the DNS record as far as it was read. */
  protected final Set<ServerAddress> seedNames() {
    ClusterSettings given = settings.getClusterSettings();
    return given.getSrvHost() == null
        ? Set.copyOf(given.getHosts())
        : seeds.servers().stream().map(ServerDescription::getAddress).collect(Collectors.toSet());
  }

  /**
   * Watches these mongoses in addition to the seeds, each by a separate client, and stops watching
   * all others.
   *
   * @param then runs when all wanted mongoses are watched, before the clients of the other mongoses
   *     are closed
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

  /** The seeds that are usable now. */
  public final List<ServerDescription> usableSeeds() {
    ServerSelector given = settings.getClusterSettings().getServerSelector();
    ClusterDescription cluster = seeds();
    return usable(given == null ? cluster.getServerDescriptions() : given.select(cluster));
  }

  /** The other mongoses that are usable now. */
  public final List<ServerDescription> usableOthers() {
    List<ServerDescription> found = all();
    List<ServerDescription> known = seeds.servers();
    found.removeIf(server -> find(server.getAddress(), known) != null);
    return usable(selected(found));
  }

  /**
   * Returns the given servers that are usable now.
   *
   * @return null if none is usable and a server may still reply for the first time
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

  /**
   * The servers of a watch. The list is empty if an address of {@code config.mongos} is watched,
   * and the server there is not a mongos.
   */
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

  /** The given servers that the application's own selector accepts. */
  private List<ServerDescription> selected(List<ServerDescription> servers) {
    ServerSelector given = settings.getClusterSettings().getServerSelector();
    if (given == null || servers.isEmpty()) {
      return servers;
    }
    List<ServerDescription> left =
        given.select(
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

  /**
   * Adds a server. Every operation calls this method, usually with one server, so a list with one
   * server is created without a copy.
   */
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
   * Called when a connection to a server broke, or the server reported its shutdown. The pools
   * handle the connections themselves. The call has no effect if the command was sent before the
   * server's last failure, because the command used an older connection. Source: the drivers'
   * specification "Server Discovery and Monitoring", on errors of an earlier generation.
   *
   * @param sentNanos the time when the command was sent, by {@link System#nanoTime}
   */
  public final void failed(ServerAddressName server, long sentNanos) {
    failedNanos.compute(
        server, (name, last) -> last != null && sentNanos - last < 0 ? last : System.nanoTime());
  }

  /** The servers without a recent failure. */
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

  /** Waits until a choice is possible. A choice is attempted after every change of a server. */
  public final <T> Mono<T> awaited(Supplier<@Nullable T> choice) {
    return wait.until(choice, this::check, () -> notFound(null));
  }

  /** Checks all servers soon. Never blocks. */
  protected void check() {
    seeds.watch().checkNow();
    others.checkNow();
  }

  /**
   * Chooses one of the seeds.
   *
   * @param readPreference used if the seeds are a replica set; null for the primary
   * @return null if no seed is up
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

  /**
   * The servers of the first preferred zone with a live server; none while it is unknown which zone
   * this is.
   */
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

  /** Called with the zone of a server that was chosen among all usable servers. */
  protected void serves(int zone) {}

  /** Chooses one of the servers within the latency window; null if there is none. */
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

  /** The error if no server was found in time. */
  protected Throwable notFound(@Nullable BsonDocument readPreference) {
    ClusterSettings given = settings.getClusterSettings();
    return noneInTime(
        "server of "
            + (given.getSrvHost() == null
                ? given.getHosts()
                : "mongodb+srv://" + given.getSrvHost())
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
   * A list of all servers with their states, for messages.
   *
   * @param unreachable the text between a server and the reason why it cannot be reached
   */
  protected final String listed(String unreachable) {
    List<String> servers = new ArrayList<>();
    for (ServerDescription each : all()) {
      servers.add(name(each) + state(each, unreachable));
    }
    Throwable unresolved = seeds().getSrvResolutionException();
    if (unresolved != null) {
      // The SRV record that could not be resolved, and the reason.
      servers.add(unresolved.getMessage() + " " + rootMessage(unresolved));
    }
    return servers.isEmpty() ? "no server name is known yet" : String.join(", ", servers);
  }

  private String state(ServerDescription server, String unreachable) {
    Throwable why = server.getException();
    if (server.isOk()) {
      return !isTrusted(server)
          ? ": a connection to it has just broken"
          : server.getType() == ServerType.SHARD_ROUTER ? " is up" : " is " + server.getType();
    }
    return why == null ? " has not replied yet" : unreachable + rootMessage(why);
  }

  /** The message of the first cause. */
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
