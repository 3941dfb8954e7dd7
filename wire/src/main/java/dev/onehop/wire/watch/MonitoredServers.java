package dev.onehop.wire.watch;

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
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.CommandFields;
import dev.onehop.wire.message.ErrorCodes;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInvalidOperationException;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Servers as official clients see them, which are there for nothing else than to watch them.
 *
 * <p>Thread-safe.
 */
public final class MonitoredServers implements ServerSet {
  /** As servers have it. */
  private static final int LEAST_MAX_STALENESS_SECONDS = 90;

  private final Losses losses;
  private final Watching watching;
  private final String seeds;
  private final Duration selectionTimeout;
  private final long localThresholdNanos;
  private final ServerWait wait;
  private volatile @Nullable ClusterDescription latest;
  private final PreferredZones zones;
  private final long createdNanos = System.nanoTime();
  private volatile @Nullable Server primary;

  private MonitoredServers(
      MongoClientSettings asked,
      String seeds,
      PreferredZones zones,
      Losses losses,
      Function<Consumer<ClusterDescription>, Watching> watch) {
    this.zones = zones;
    this.losses = losses;
    this.seeds = seeds;
    this.selectionTimeout =
        Duration.ofMillis(
            asked.getClusterSettings().getServerSelectionTimeout(TimeUnit.MILLISECONDS));
    this.wait = new ServerWait(selectionTimeout);
    this.localThresholdNanos = asked.getClusterSettings().getLocalThreshold(TimeUnit.NANOSECONDS);
    this.watching = watch.apply(this::changed);
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
        cluster.getSrvHost() == null
            ? cluster.getHosts().toString()
            : "mongodb+srv://" + cluster.getSrvHost(),
        zones,
        losses,
        listener ->
            mapping == null || !discovered
                ? byTheDriver(settings, listener)
                : new MemberWatch(
                    settings,
                    cluster.getHosts().stream().map(SingleServer::name).toList(),
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
                                          members.stream().map(SingleServer::address).toList(),
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
    return new DriverWatch(
        settings,
        new ClusterListener() {
          @Override
          public void clusterDescriptionChanged(ClusterDescriptionChangedEvent event) {
            listener.accept(event.getNewDescription());
          }
        });
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
    wait.changed();
  }

  private static Server server(ServerDescription description) {
    return new Server(SingleServer.name(description.getAddress()), description.getMaxWireVersion());
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
          return wait.until(() -> choose(wanted), watching::checkNow, () -> notFound(wanted));
        });
  }

  private @Nullable Server choose(ReadPreference wanted) {
    ClusterDescription description = latest;
    if (description == null) {
      return null; // not told yet
    }
    List<ServerDescription> fitting = new ArrayList<>();
    for (ServerDescription server : wanted.choose(description)) {
      if (server.isOk()) {
        fitting.add(server);
      }
    }
    ServerDescription chosen =
        ServerWait.choose(inZone(fitting, description, wanted), localThresholdNanos);
    return chosen == null ? null : server(chosen);
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
    return zones.reason(SingleServer.address(server));
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
      if (description.getSrvResolutionException() != null) {
        known.add(unresolved(description.getSrvResolutionException()));
      }
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

  /** Which SRV record could not be looked up, and why. */
  public static String unresolved(Throwable failure) {
    return failure.getMessage() + " " + rootMessage(failure);
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
    watching.close();
  }
}
