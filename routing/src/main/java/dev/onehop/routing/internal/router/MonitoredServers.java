package dev.onehop.routing.internal.router;

import com.mongodb.MongoClientSettings;
import com.mongodb.ReadPreference;
import com.mongodb.ServerAddress;
import com.mongodb.Tag;
import com.mongodb.TagSet;
import com.mongodb.TaggableReadPreference;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import com.mongodb.event.ClusterDescriptionChangedEvent;
import com.mongodb.event.ClusterListener;
import dev.onehop.routing.internal.affinity.SingleServer;
import dev.onehop.routing.internal.zones.PreferredZones;
import dev.onehop.routing.spi.shard.CommandFailure;
import dev.onehop.routing.spi.shard.ErrorCodes;
import dev.onehop.routing.spi.shard.ServerSet;
import dev.onehop.routing.spi.wire.CommandFields;
import dev.onehop.routing.spi.wire.ServerAddressName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInvalidOperationException;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Servers as official clients see them, which are there for nothing else than to watch them.
 *
 * <p>Thread-safe.
 */
public final class MonitoredServers implements ServerSet {
  /** As servers have it. */
  private static final int LEAST_MAX_STALENESS_SECONDS = 90;

  // The driver's own pace while an operation waits.
  private static final Duration CHECK_EVERY = Duration.ofMillis(500);

  private final Losses losses;
  private final Watching watching;
  private final String seeds;
  private final Duration selectionTimeout;
  private final long localThresholdMillis;
  private final Sinks.Many<ClusterDescription> descriptions = Sinks.many().replay().latest();
  private volatile @Nullable ClusterDescription latest;
  private final PreferredZones zones;
  private final long createdNanos = System.nanoTime();
  private volatile @Nullable Server primary;

  /** What watches the servers. */
  interface Watching extends AutoCloseable {
    /** Checks the servers soon, and not only with the next heartbeat. */
    void checkNow();

    @Override
    void close();
  }

  private interface Watch {
    Watching start(Consumer<ClusterDescription> listener);
  }

  private MonitoredServers(
      MongoClientSettings asked, String seeds, PreferredZones zones, Losses losses, Watch watch) {
    this.zones = zones;
    this.losses = losses;
    this.seeds = seeds;
    this.selectionTimeout =
        Duration.ofMillis(
            asked.getClusterSettings().getServerSelectionTimeout(TimeUnit.MILLISECONDS));
    this.localThresholdMillis = asked.getClusterSettings().getLocalThreshold(TimeUnit.MILLISECONDS);
    this.watching = watch.start(this::changed);
  }

  /**
   * Watches the servers that the settings name.
   *
   * @param mapping of the names that members of a replica set call each other; null if these are
   *     the names by which they are reached
   * @param zones that the application prefers
   * @param losses told of servers that are lost
   */
  public static MonitoredServers of(
      MongoClientSettings asked,
      @Nullable UnaryOperator<ServerAddressName> mapping,
      PreferredZones zones,
      Losses losses) {
    MongoClientSettings settings = watching(asked, zones, losses);
    ClusterSettings cluster = settings.getClusterSettings();
    boolean discovered =
        cluster.getMode() == ClusterConnectionMode.MULTIPLE && cluster.getSrvHost() == null;
    return new MonitoredServers(
        settings,
        cluster.getHosts().toString(),
        zones,
        losses,
        listener ->
            mapping == null || !discovered
                ? byTheDriver(settings, listener)
                : new MemberWatch(
                    settings,
                    cluster.getHosts().stream().map(MonitoredServers::name).toList(),
                    cluster.getRequiredReplicaSetName(),
                    mapping,
                    listener));
  }

  /**
   * Watches replica sets with the settings' timeouts, TLS and listeners.
   *
   * @param mapping as in {@link #of}, also of the names in {@code config.shards}
   * @param zones that the application prefers
   * @param losses told of servers that are lost
   */
  public static ServerSet.Factory replicaSets(
      MongoClientSettings asked,
      @Nullable UnaryOperator<ServerAddressName> mapping,
      PreferredZones zones,
      Losses losses) {
    MongoClientSettings settings = watching(asked, zones, losses);
    return connectionString -> {
      int slash = connectionString.indexOf('/');
      String name = connectionString.substring(0, Math.max(0, slash));
      List<ServerAddressName> members =
          Arrays.stream(connectionString.substring(slash + 1).split(",", -1))
              .map(member -> ServerAddressName.parse(member.trim()))
              .toList();
      return new MonitoredServers(
          settings,
          connectionString,
          zones,
          losses,
          listener ->
              mapping == null
                  ? byTheDriver(
                      MongoClientSettings.builder(settings)
                          .applyToClusterSettings(
                              cluster ->
                                  cluster.applySettings(
                                      replicaSet(
                                          settings.getClusterSettings(),
                                          members.stream()
                                              .map(
                                                  each ->
                                                      new ServerAddress(each.host(), each.port()))
                                              .toList(),
                                          name)))
                          .build(),
                      listener)
                  : new MemberWatch(
                      settings, members.stream().map(mapping).toList(), name, mapping, listener));
    };
  }

  /** Where zones are preferred, a server that comes back is noticed soon. */
  private static MongoClientSettings watching(
      MongoClientSettings settings, PreferredZones zones, Losses losses) {
    return MongoClientSettings.builder(settings)
        .applyToServerSettings(
            servers ->
                servers
                    .applySettings(
                        zones.isEmpty()
                            ? settings.getServerSettings()
                            : SingleServer.soonHeard(settings.getServerSettings()))
                    .addServerMonitorListener(losses))
        .applyToConnectionPoolSettings(pool -> pool.minSize(0))
        .build();
  }

  private static Watching byTheDriver(
      MongoClientSettings settings, Consumer<ClusterDescription> listener) {
    return new PromptChecks(
        MongoClientSettings.builder(settings)
            .applyToClusterSettings(
                cluster ->
                    cluster.addClusterListener(
                        new ClusterListener() {
                          @Override
                          public void clusterDescriptionChanged(
                              ClusterDescriptionChangedEvent event) {
                            listener.accept(event.getNewDescription());
                          }
                        }))
            .build());
  }

  private static ClusterSettings replicaSet(
      ClusterSettings asked, List<ServerAddress> hosts, String name) {
    ClusterSettings.Builder settings =
        ClusterSettings.builder()
            .mode(ClusterConnectionMode.MULTIPLE)
            .hosts(hosts)
            .requiredReplicaSetName(name)
            .localThreshold(asked.getLocalThreshold(TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS)
            .serverSelectionTimeout(
                asked.getServerSelectionTimeout(TimeUnit.MILLISECONDS), TimeUnit.MILLISECONDS);
    asked.getClusterListeners().forEach(settings::addClusterListener);
    return settings.build();
  }

  private void changed(ClusterDescription description) {
    ClusterDescription before = latest;
    latest = description;
    Server found = null;
    for (ServerDescription server : description.getServerDescriptions()) {
      if (server.isOk() && (server.isPrimary() && server.getType() != ServerType.SHARD_ROUTER)) {
        found = server(server);
      }
    }
    primary = found;
    losses.changed(before, description);
    descriptions.emitNext(description, Sinks.EmitFailureHandler.busyLooping(Duration.ofSeconds(1)));
  }

  private static Server server(ServerDescription description) {
    return new Server(name(description.getAddress()), description.getMaxWireVersion());
  }

  private static ServerAddressName name(ServerAddress address) {
    return new ServerAddressName(address.getHost(), address.getPort());
  }

  @Override
  public @Nullable Server primary() {
    return primary;
  }

  @Override
  public Mono<Server> select(@Nullable BsonDocument readPreference) {
    return Mono.defer(
        () -> {
          Server known = primary;
          if (readPreference == null && known != null) {
            return Mono.just(known);
          }
          ReadPreference wanted =
              readPreference == null ? ReadPreference.primary() : preference(readPreference);
          ClusterDescription description = latest;
          Server chosen = description == null ? null : choose(description, wanted);
          if (chosen != null) {
            return Mono.just(chosen);
          }
          Mono<Server> found =
              Flux.merge(descriptions.asFlux(), zonesDecided())
                  .<Server>handle(
                      (changed, sink) -> {
                        Server fitting = choose(changed, wanted);
                        if (fitting != null) {
                          sink.next(fitting);
                        }
                      })
                  .next()
                  .transform(this::checkedMeanwhile);
          // As the driver has it: less than nothing means for ever.
          return selectionTimeout.isNegative()
              ? found
              : found.timeout(selectionTimeout, Mono.error(() -> notFound(wanted)));
        });
  }

  /** A zone of which nothing is heard is waited for, but not until something changes. */
  private Flux<ClusterDescription> zonesDecided() {
    return zones.isEmpty()
        ? Flux.empty()
        : Flux.interval(CHECK_EVERY).onBackpressureDrop().mapNotNull(tick -> latest);
  }

  private Mono<Server> checkedMeanwhile(Mono<Server> found) {
    return Mono.using(
        () ->
            Flux.interval(Duration.ZERO, CHECK_EVERY)
                .onBackpressureDrop()
                .subscribe(tick -> watching.checkNow()),
        checking -> found,
        Disposable::dispose);
  }

  private @Nullable Server choose(ClusterDescription description, ReadPreference wanted) {
    List<ServerDescription> fitting = new ArrayList<>();
    for (ServerDescription server : wanted.choose(description)) {
      if (server.isOk()) {
        fitting.add(server);
      }
    }
    fitting = inZone(fitting, description, wanted);
    if (fitting.isEmpty()) {
      return null;
    }
    long nearest =
        fitting.stream().mapToLong(ServerDescription::getRoundTripTimeNanos).min().orElse(0);
    long window = nearest + TimeUnit.MILLISECONDS.toNanos(localThresholdMillis);
    fitting.removeIf(server -> server.getRoundTripTimeNanos() > window);
    return server(fitting.get(ThreadLocalRandom.current().nextInt(fitting.size())));
  }

  /** Who else but the primary can serve it is chosen by zone; a mongos always is. */
  private List<ServerDescription> inZone(
      List<ServerDescription> fitting, ClusterDescription description, ReadPreference wanted) {
    boolean any =
        description.getType() == ClusterType.SHARDED
            || PreferredZones.isOfAnyMember(wanted.toDocument());
    return any
        ? zones.first(fitting, description, System.nanoTime() - createdNanos)
        : zones.first(fitting);
  }

  @Override
  public @Nullable String zoneReason(ServerAddressName server) {
    return zones.reason(new ServerAddress(server.host(), server.port()));
  }

  /** Reads {@code $readPreference}, as the driver writes it for a mongos. */
  public static ReadPreference preference(BsonDocument document) {
    try {
      return readPreference(document);
    } catch (BsonInvalidOperationException | IllegalArgumentException e) {
      throw new CommandFailure(
          ErrorCodes.FAILED_TO_PARSE,
          "FailedToParse",
          "Could not parse $readPreference " + document.toJson() + ": " + e.getMessage());
    }
  }

  private static ReadPreference readPreference(BsonDocument document) {
    String mode = document.getString("mode", new BsonString("primary")).getValue();
    List<TagSet> tagSets = new ArrayList<>();
    for (BsonValue set : document.getArray("tags", new BsonArray())) {
      List<Tag> tags = new ArrayList<>();
      for (Map.Entry<String, BsonValue> tag : set.asDocument().entrySet()) {
        tags.add(new Tag(tag.getKey(), tag.getValue().asString().getValue()));
      }
      tagSets.add(new TagSet(tags));
    }
    if (mode.equalsIgnoreCase("primary")) {
      return ReadPreference.primary();
    }
    TaggableReadPreference preference = ReadPreference.valueOf(mode, tagSets);
    long maxStaleness = CommandFields.number(document, "maxStalenessSeconds");
    if (maxStaleness == 0) {
      return preference;
    }
    if (maxStaleness < LEAST_MAX_STALENESS_SECONDS) {
      throw new CommandFailure(
          ErrorCodes.MAX_STALENESS_OUT_OF_RANGE,
          "MaxStalenessOutOfRange",
          "maxStalenessSeconds value can not be less than " + LEAST_MAX_STALENESS_SECONDS);
    }
    return preference.withMaxStalenessMS(maxStaleness, TimeUnit.SECONDS);
  }

  private CommandFailure notFound(ReadPreference wanted) {
    ClusterDescription description = latest;
    List<String> known = new ArrayList<>();
    if (description != null) {
      for (ServerDescription server : description.getServerDescriptions()) {
        Throwable why = server.getException();
        String host = server.getAddress().getHost() + ":" + server.getAddress().getPort();
        known.add(
            host + " is " + (why == null ? server.getType() : "unreachable: " + rootMessage(why)));
      }
    }
    return new CommandFailure(
        ErrorCodes.FAILED_TO_SATISFY_READ_PREFERENCE,
        "FailedToSatisfyReadPreference",
        "no server of "
            + seeds
            + " that fits read preference "
            + wanted.getName()
            + " was found within "
            + selectionTimeout.toMillis()
            + " ms; "
            + String.join(", ", known));
  }

  /** What went wrong in the first place. */
  public static String rootMessage(Throwable failure) {
    String message = null;
    for (Throwable each = failure; each != null; each = each.getCause()) {
      message = each.getMessage() == null ? message : each.getMessage();
    }
    return String.valueOf(message);
  }

  @Override
  public void close() {
    watching.close();
  }
}
