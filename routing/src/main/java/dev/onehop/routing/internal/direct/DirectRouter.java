package dev.onehop.routing.internal.direct;

import com.mongodb.ServerAddress;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.internal.metrics.ExplainedRouter;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RouterStatus;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.command.ClusterRouter;
import dev.onehop.shards.command.ClusterState;
import dev.onehop.shards.command.StartCheck;
import dev.onehop.shards.command.Transactions;
import dev.onehop.shards.request.ClusterFacts;
import dev.onehop.shards.request.Forwarded;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.watch.PreferredZones;
import dev.onehop.wire.watch.ServerSet;
import dev.onehop.wire.watch.SingleServer;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonString;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The router of one application, which has a mongos do what is not certain to be right here.
 *
 * <p>Thread-safe.
 */
public final class DirectRouter extends ClusterRouter implements ExplainedRouter {
  private static final BsonString SNAPSHOT = new BsonString("snapshot");

  private final ClusterState cluster;
  private final StartCheck startCheck;
  private final MongosHandOver handOver;
  private volatile boolean routing = true;

  /**
   * A router for a cluster.
   *
   * @param cluster taken over
   */
  public DirectRouter(ClusterState cluster) {
    this(cluster, new MongosHandOver(cluster.seeds(), cluster.startCheck(), cluster.cursors()));
  }

  private DirectRouter(ClusterState cluster, MongosHandOver handOver) {
    super(cluster, handOver);
    this.cluster = cluster;
    this.startCheck = cluster.startCheck();
    this.handOver = handOver;
  }

  @Override
  public boolean isRouting() {
    return routing;
  }

  @Override
  public Mono<RoutingTable> table(String namespace) {
    return started().then(cluster.catalog().table(namespace));
  }

  @Override
  public Optional<Duration> tableAge(String namespace) {
    return cluster.catalog().age(namespace);
  }

  @Override
  public void setRouting(boolean on) {
    ClusterFacts facts = facts();
    if (!on && (facts == null || !facts.hasMongos())) {
      throw new IllegalStateException(
          facts == null
              ? "no server has answered yet"
              : "the URI names config servers only: without routing there is no mongos to send"
                  + " operations to");
    }
    routing = on;
  }

  @Override
  public Mono<Void> known() {
    return started();
  }

  @Override
  public Mono<Void> usable() {
    return startCheck.everyShardPassed();
  }

  @Override
  public RouterStatus status() {
    Map<String, List<ServerAddress>> shards = new TreeMap<>();
    List<String> missing = new ArrayList<>();
    for (String shard : cluster.directory().known()) {
      List<ServerAddress> primary =
          primary(shard).map(SingleServer::address).map(List::of).orElse(List.of());
      shards.put(shard, primary);
      if (primary.isEmpty()) {
        missing.add("no primary of " + shard + " is known");
      }
    }
    startCheck.refusing().forEach(shard -> missing.add("shard " + shard + " refuses the user"));
    String outage = outage();
    if (outage != null || shards.isEmpty()) {
      missing.add(outage == null ? "the shards are not known yet" : outage);
    }
    return new RouterStatus("direct", routing, null, shards, cluster.catalog().ages(), missing);
  }

  @Override
  public @Nullable Forwarded tryForward(
      ByteBuf frame, Forwarded.Carrier carrier, Forwarded.Outcome outcome) {
    return routing ? super.tryForward(frame, carrier, outcome) : null;
  }

  @Override
  public Mono<Void> startedOrSilent() {
    return startCheck.doneOrSilent();
  }

  @Override
  public Mono<Choice> choice(Target target, BsonDocument readPreference) {
    RouteDecision decision =
        target.isSingleShard() ? RouteDecision.OWNER : RouteDecision.SEVERAL_SHARDS;
    Flux<ReplicaSet> members =
        PreferredZones.isOfAnyMember(readPreference)
            ? Flux.fromIterable(target.shards()).mapNotNull(cluster.directory()::known)
            : Flux.empty();
    return members
        .concatMap(
            set ->
                set.servers()
                    .select(readPreference)
                    .mapNotNull(
                        server -> {
                          String why = set.servers().zoneReason(server.name());
                          return why == null ? null : Map.entry(server.name(), why);
                        }))
        .collectMap(Map.Entry::getKey, Map.Entry::getValue, LinkedHashMap::new)
        .map(
            zoned ->
                zoned.isEmpty()
                    ? new Choice(
                        decision,
                        target.shards().stream().flatMap(shard -> primary(shard).stream()).toList(),
                        target.reason())
                    : new Choice(
                        decision,
                        List.copyOf(zoned.keySet()),
                        target.reason() + "; " + String.join("; ", zoned.values())));
  }

  private Optional<ServerAddressName> primary(String shard) {
    return Optional.ofNullable(cluster.directory().known(shard))
        .map(set -> set.servers().primary())
        .map(ServerSet.Server::name);
  }

  @Override
  protected Mono<BsonDocument> run(OpMsg command) {
    return switch (command.commandName()) {
      case "ping" -> Mono.just(new BsonDocument("ok", new BsonDouble(1)));
      case "getMore" -> getMore(command);
      case "killCursors" -> killCursors(command);
      default ->
          !routing
              ? handOver.send(command, "a command while routing is turned off")
              : startCheck.isDone() ? runStarted(command) : handOver.sendUnplaced(command);
    };
  }

  private Mono<BsonDocument> runStarted(OpMsg command) {
    if (command.commandName().equals("listDatabases")) {
      return listDatabases(command);
    }
    return isOfConfigServers(command.database()) && !Transactions.isPart(command)
        ? ifHandedOver(() -> onConfigServer(command), () -> onConfigServerIfRight(command))
        : onDataOrHandOver(command);
  }

  private Mono<BsonDocument> onConfigServerIfRight(OpMsg command) {
    return ConfigServerCommands.holdForCluster(command)
        ? onConfigServer(command)
        : handOver.send(
            command, "the command " + command.commandName() + " on " + command.database());
  }

  private Mono<BsonDocument> onDataOrHandOver(OpMsg command) {
    if (Transactions.isPart(command)) {
      return handOver.send(command, "a transaction");
    }
    // The table may be newer than the snapshot, which then needs the owners of that time.
    return isSnapshotAsked(command)
        ? handOver.send(command, "read concern snapshot")
        : onShards(command);
  }

  private static boolean isSnapshotAsked(OpMsg command) {
    return command.body().get("readConcern") instanceof BsonDocument readConcern
        && SNAPSHOT.equals(readConcern.get("level"));
  }

  @Override
  protected Mono<BsonDocument> other(OpMsg command) {
    return handOver.send(command, "the command " + command.commandName());
  }

  /** One whose table does not come soon is a mongos' meanwhile. */
  @Override
  protected Mono<BsonDocument> byTable(OpMsg command, String namespace, Mono<BsonDocument> here) {
    return cluster
        .shards()
        .isKnownSoon(namespace)
        .flatMap(soon -> soon ? here : withoutTable(command, here));
  }

  /** What no mongos can do waits for a table that takes its time, as one of many chunks does. */
  private Mono<BsonDocument> withoutTable(OpMsg command, Mono<BsonDocument> here) {
    return handOver
        .isPossible()
        .flatMap(
            possible ->
                possible || cluster.catalog().isSilent() ? handOver.sendUnplaced(command) : here);
  }
}
