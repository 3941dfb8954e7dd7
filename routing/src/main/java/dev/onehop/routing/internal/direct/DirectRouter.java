package dev.onehop.routing.internal.direct;

import com.mongodb.ServerAddress;
import dev.onehop.core.table.RoutingTable;
import dev.onehop.core.targeting.Target;
import dev.onehop.routing.internal.metrics.ExplainedRouter;
import dev.onehop.routing.observation.RouteDecision;
import dev.onehop.routing.observation.RouterStatus;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.shards.command.ClusterCheck;
import dev.onehop.shards.command.ClusterRouter;
import dev.onehop.shards.command.ClusterState;
import dev.onehop.shards.request.ClusterFacts;
import dev.onehop.shards.request.ForwardedCommand;
import dev.onehop.wire.ServerAddressName;
import dev.onehop.wire.message.OpMsg;
import dev.onehop.wire.watch.PreferredZones;
import dev.onehop.wire.watch.ServerSet;
import dev.onehop.wire.watch.SingleServer;
import io.netty.buffer.ByteBuf;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The router of direct mode: one shard, one hop. It sends a command that one shard owns to this
 * shard, and every other command to a mongos.
 *
 * <p>Thread-safe.
 */
public final class DirectRouter extends ClusterRouter implements ExplainedRouter {
  private final ClusterState cluster;
  private final ClusterCheck clusterCheck;
  private final MongosFallback fallback;
  private final OneShardCommands oneShard;
  private volatile boolean routing = true;

  /**
   * Creates a router for a cluster.
   *
   * @param cluster the cluster; closed with the router
   */
  public DirectRouter(ClusterState cluster) {
    super(cluster);
    this.cluster = cluster;
    this.clusterCheck = cluster.clusterCheck();
    this.fallback = new MongosFallback(cluster.seeds(), clusterCheck, cluster.cursors());
    this.oneShard = new OneShardCommands(cluster, fallback);
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
              ? "routing can't be turned off yet, because no server has replied"
              : "routing can't be turned off: operations would then need a mongos, and the URI"
                  + " names config servers only");
    }
    routing = on;
  }

  @Override
  public Mono<Void> known() {
    return started();
  }

  @Override
  public Mono<Void> usable() {
    return clusterCheck.everyShardPassed();
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
    clusterCheck.refusing().forEach(shard -> missing.add("shard " + shard + " refuses the user"));
    String outage = outage();
    if (outage != null || shards.isEmpty()) {
      missing.add(outage == null ? "the shards are not known yet" : outage);
    }
    return new RouterStatus("direct", routing, null, shards, cluster.catalog().ages(), missing);
  }

  @Override
  public @Nullable ForwardedCommand tryForward(
      ByteBuf frame, ForwardedCommand.Carrier carrier, ForwardedCommand.Outcome outcome) {
    return routing ? super.tryForward(frame, carrier, outcome) : null;
  }

  @Override
  public Mono<Void> startedOrSilent() {
    return clusterCheck.doneOrSilent();
  }

  @Override
  public Mono<Choice> choice(Target target, BsonDocument readPreference) {
    if (!target.isSingleShard()) {
      Choice none = new Choice(RouteDecision.HANDED_OVER, List.of(), target.reason());
      return fallback.isPossible().flatMap(possible -> possible ? mongos(target) : Mono.just(none));
    }
    Choice owner =
        new Choice(
            RouteDecision.OWNER,
            primary(target.shard()).map(List::of).orElse(List.of()),
            target.reason());
    ReplicaSet members = cluster.directory().known(target.shard());
    return members != null && PreferredZones.isOfAnyMember(readPreference)
        ? zoned(members.servers(), readPreference, target).defaultIfEmpty(owner)
        : Mono.just(owner);
  }

  private static Mono<Choice> zoned(ServerSet members, BsonDocument readPreference, Target target) {
    return members
        .select(readPreference)
        .mapNotNull(
            member -> {
              String why = members.zoneReason(member.name());
              return why == null
                  ? null
                  : new Choice(
                      RouteDecision.OWNER, List.of(member.name()), target.reason() + "; " + why);
            });
  }

  /** Chooses the mongos that would execute a command for several shards at this moment. */
  private Mono<Choice> mongos(Target target) {
    ServerSet mongoses = cluster.seeds().servers();
    return mongoses
        .select(null)
        .map(
            mongos -> {
              String why = mongoses.zoneReason(mongos.name());
              return new Choice(
                  RouteDecision.HANDED_OVER,
                  List.of(mongos.name()),
                  why == null ? target.reason() : target.reason() + "; " + why);
            });
  }

  private Optional<ServerAddressName> primary(String shard) {
    return Optional.ofNullable(cluster.directory().known(shard))
        .map(set -> set.servers().primary())
        .map(ServerSet.Server::name);
  }

  @Override
  protected Mono<BsonDocument> run(OpMsg command) {
    if (OwnCommands.isOnOwnCursors(command)) {
      return command.commandName().equals("getMore") ? getMore(command) : killCursors(command);
    }
    if (command.commandName().equals("ping")) {
      return Mono.just(new BsonDocument("ok", new BsonDouble(1)));
    }
    if (!routing) {
      return fallback.send(command, "a command while routing is turned off");
    }
    if (!clusterCheck.isDone()) {
      return fallback.sendUnplaced(command);
    }
    String other = OwnCommands.whyNot(command);
    return other == null ? byTable(command) : fallback.send(command, other);
  }

  private Mono<BsonDocument> byTable(OpMsg command) {
    String namespace = namespace(command);
    return cluster
        .shards()
        .isKnownSoon(namespace)
        .flatMap(
            soon -> soon ? oneShard.run(command, namespace) : withoutTable(command, namespace));
  }

  /**
   * Handles a command whose routing table is not loaded within a moment, for example because it has
   * many chunks. A mongos executes the command. Without a mongos, the command waits for the table,
   * or fails if the config servers do not reply.
   */
  private Mono<BsonDocument> withoutTable(OpMsg command, String namespace) {
    return fallback
        .isPossible()
        .flatMap(
            possible ->
                possible || cluster.catalog().isSilent()
                    ? fallback.sendUnplaced(command)
                    : oneShard.run(command, namespace));
  }
}
