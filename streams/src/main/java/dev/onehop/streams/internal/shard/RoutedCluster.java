package dev.onehop.streams.internal.shard;

import dev.onehop.shards.ClusterServers;
import dev.onehop.shards.cluster.Privileges;
import dev.onehop.shards.cluster.ReplicaSet;
import dev.onehop.streams.event.Checkpoint;
import dev.onehop.streams.event.HistoryLostException;
import dev.onehop.streams.event.Order;
import dev.onehop.streams.event.Source;
import dev.onehop.streams.internal.merge.Cluster;
import dev.onehop.streams.internal.merge.ReadFailure;
import dev.onehop.streams.internal.merge.ShardStream;
import dev.onehop.streams.internal.token.Tokens;
import dev.onehop.wire.connection.ServerRefusedException;
import dev.onehop.wire.message.CommandFailure;
import dev.onehop.wire.message.ErrorCodes;
import java.io.IOException;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The servers of a stream: all shards of a cluster, one of them, a replica set, or mongoses. */
public final class RoutedCluster implements Cluster {
  private static final Logger log = LoggerFactory.getLogger(RoutedCluster.class);

  /**
   * The id that stands for a replica set or for the mongoses where the id of a shard is expected.
   */
  public static final String ALONE = "";

  // The most heartbeats in flight to the config servers, so that heartbeats do not accumulate if
  // the config servers cannot be reached.
  private static final int MOST_MOVING = 4;

  private static final BsonString IS_MONGOS = new BsonString("isdbgrid");

  private final ClusterServers servers;
  private final StreamCommand command;
  private final Source source;
  private final @Nullable Checkpoint start;
  private final @Nullable Part part;
  private final boolean lookups;
  private final Runnable release;
  private final PlacementReader placements;
  private final Heartbeats heartbeats;
  private final AtomicInteger moving = new AtomicInteger();
  private volatile @Nullable ReplicaSet configServers;

  /**
   * One shard of a cluster as the only shard of a stream: its events are emitted without waiting
   * for other shards. The caller has to order the events of several shards, and has to notice new
   * shards. While the shard is idle, its clock is advanced to the cluster time.
   *
   * @param shard the shard's id
   * @param after the position after which the shard's stream starts
   */
  public record Part(String shard, Checkpoint after) {
    private Opening of(Opening whole) {
      if (whole.shards().contains(shard)) {
        return new Opening(Set.of(shard), null, after, true);
      }
      // The shard was removed while it was not read. Its events after the position can no longer be
      // read.
      Placement placement = whole.placement();
      BsonTimestamp from = Tokens.clusterTime(after.token(shard));
      throw new HistoryLostException(shard, from, placement == null ? from : placement.through());
    }
  }

  /**
   * @param start the position to start at; null for the current position
   * @param part the shard to read; null for all shards
   * @param heartbeats whether idle servers get heartbeats
   * @param release called when this object no longer needs the servers
   */
  public RoutedCluster(
      ClusterServers servers,
      StreamCommand command,
      Source source,
      Order order,
      @Nullable Checkpoint start,
      @Nullable Part part,
      boolean heartbeats,
      Runnable release) {
    this.servers = servers;
    this.command = command;
    this.source = source;
    this.start = start;
    this.part = part;
    this.lookups = command.looksUp() && source == Source.SHARDS;
    this.release = release;
    this.placements = new PlacementReader(servers.config(), servers.clock(), command, order);
    this.heartbeats = new Heartbeats(servers.clock(), heartbeats);
  }

  @Override
  public Mono<Opening> open() {
    return servers
        .seeds()
        .run("admin", new BsonDocument("hello", new BsonInt32(1)))
        .flatMap(
            hello -> {
              boolean mongos = IS_MONGOS.equals(hello.get("msg"));
              boolean sharded = mongos || hello.containsKey("configsvr");
              if (source == Source.MONGOS && !mongos) {
                throw new IllegalArgumentException("the URI does not name mongoses");
              }
              if (lookups && sharded && !mongos) {
                throw new IllegalArgumentException(
                    "updateLookup needs the URI of mongoses, not of config servers");
              }
              return VersionCheck.of(command -> servers.seeds().run("admin", command))
                  .then(
                      Mono.defer(
                          () ->
                              sharded && source == Source.SHARDS
                                  ? ofShards(mongos)
                                  : alone(mongos)));
            })
        .map(opening -> part == null ? opening : part.of(opening))
        .onErrorMap(Failures::of);
  }

  private Mono<Opening> alone(boolean mongos) {
    if (mongos) {
      log.info(
          "the change stream is read from a mongos, and has the latency and throughput of this"
              + " mongos");
    }
    return ping(servers.seeds())
        .then(start(Set.of()))
        .map(from -> new Opening(Set.of(ALONE), null, from, start != null));
  }

  private Mono<BsonDocument> ping(ReplicaSet on) {
    return Mono.defer(
        () -> {
          BsonDocument ping = new BsonDocument("ping", new BsonInt32(1));
          servers.clock().gossip(ping);
          return on.run("admin", ping);
        });
  }

  /**
   * Opens a stream of all shards. Without a configured position, the stream starts at a time after
   * the placement was read. Every change of the placement after the start is then detected.
   */
  private Mono<Opening> ofShards(boolean mongos) {
    Rights rights = new Rights(command);
    return status(servers.seeds())
        .doOnNext(status -> rights.atConfigServers(status, lookups))
        .doOnNext(status -> rights.check())
        .flatMap(status -> servers.directory().all())
        .flatMap(
            all ->
                Flux.fromIterable(all.entrySet())
                    .flatMap(shard -> query(rights, shard.getKey(), shard.getValue()))
                    .then(Mono.fromRunnable(rights::check))
                    .then(mongos ? findConfigServers(all.values()) : Mono.just(servers.seeds())))
        .doOnNext(found -> configServers = found)
        .then(Mono.defer(this::reachablePlacement))
        .doOnNext(read -> rights.say())
        .flatMap(
            found ->
                Mono.zip(
                    start(found.shards()),
                    removed(found),
                    (from, removed) ->
                        new Opening(found.shards(), found, from, start != null, removed)));
  }

  private Mono<Map<String, BsonTimestamp>> removed(Placement found) {
    ReplicaSet known = configServers;
    return start == null
        ? Mono.just(Map.of())
        : new RemovedShards(known == null ? servers.seeds() : known, servers.clock(), heartbeats)
            .since(start, found);
  }

  private static Mono<BsonDocument> status(ReplicaSet of) {
    return of.run("admin", Privileges.command());
  }

  private static Mono<BsonDocument> query(Rights rights, String shard, ReplicaSet of) {
    return status(of)
        .doOnNext(status -> rights.atShard(shard, status))
        .onErrorResume(
            RoutedCluster::isRefusal,
            why -> {
              rights.refused(shard, why);
              return Mono.empty();
            });
  }

  /** Whether a server can be reached but rejects the user. */
  private static boolean isRefusal(Throwable failure) {
    return failure instanceof ServerRefusedException
        || !(failure instanceof IOException
            || failure instanceof TimeoutException
            || failure instanceof CommandFailure);
  }

  /**
   * Finds the config servers. A mongos does not return them. A shard returns them if the user has
   * the right {@code getShardMap}.
   */
  private Mono<ReplicaSet> findConfigServers(Collection<ReplicaSet> shards) {
    ReplicaSet known = configServers;
    return known != null
        ? Mono.just(known)
        : Flux.fromIterable(shards)
            .concatMap(
                shard ->
                    shard
                        .run("admin", new BsonDocument("getShardMap", new BsonInt32(1)))
                        .onErrorResume(CommandFailure.class, refused -> Mono.empty()))
            .next()
            .map(reply -> reply.getDocument("map").getString("config").getValue())
            .map(servers::replicaSet);
  }

  /**
   * The configured start, or a time after all operations that the servers have reported. If a
   * shard's clock is behind this time, an event after the start could get an earlier time. To
   * prevent this, each shard receives the start time with a {@code ping}.
   */
  private Mono<Checkpoint> start(Set<String> shards) {
    if (start != null) {
      return Mono.just(start);
    }
    return Mono.defer(
        () -> {
          BsonTimestamp time = servers.clock().now();
          if (time == null) {
            return Mono.error(
                new CommandFailure(
                    ErrorCodes.ILLEGAL_OPERATION,
                    "IllegalOperation",
                    "change streams need a replica set or a sharded cluster"));
          }
          Checkpoint now = Checkpoint.before(Tokens.next(time));
          return Flux.fromIterable(shards)
              .flatMap(shard -> servers.directory().shard(shard).flatMap(this::ping))
              .then(Mono.just(now));
        });
  }

  /**
   * Sends a heartbeat to the config servers while they are read. Without a heartbeat, the clock of
   * idle config servers would stay behind the time of the read, and the read would wait for the
   * clock.
   */
  private void moveConfigServers() {
    ReplicaSet idle = configServers;
    if (idle != null && moving.get() < MOST_MOVING) {
      moving.incrementAndGet();
      heartbeats.write(idle).doFinally(end -> moving.decrementAndGet()).subscribe();
    }
  }

  @Override
  public Mono<Placement> placement(boolean awaited) {
    return Mono.defer(
            () -> {
              if (awaited) {
                moveConfigServers();
              }
              return reachablePlacement();
            })
        .onErrorMap(Failures::of);
  }

  /**
   * The placement, once the directory contains all shards of the placement. A shard may have been
   * added after the directory was read.
   */
  private Mono<Placement> reachablePlacement() {
    return placements
        .read()
        .delayUntil(found -> isKnown(found) ? Mono.empty() : servers.directory().all())
        .flatMap(
            found ->
                isKnown(found)
                    ? Mono.just(found)
                    : Mono.error(
                        new ReadFailure(
                            ReadFailure.Kind.PASSING,
                            new IOException(
                                "not all of these shards are known yet: " + found.shards()))));
  }

  private boolean isKnown(Placement found) {
    return servers.directory().known().containsAll(found.shards());
  }

  @Override
  public @Nullable BsonTimestamp now() {
    return servers.clock().now();
  }

  @Override
  public ShardStream stream(String shard) {
    boolean alone = shard.equals(ALONE);
    ReplicaSet replicaSet = alone ? servers.seeds() : servers.directory().known(shard);
    if (replicaSet == null) {
      throw new IllegalStateException("shard " + shard + " is not known");
    }
    boolean completed = lookups && !alone;
    return new ServerStream(
        replicaSet,
        servers.clock(),
        heartbeats,
        completed ? command.beforeLookups() : command,
        completed ? new Lookups(servers, command) : null,
        part == null || alone ? null : placement(false).onErrorComplete().then());
  }

  @Override
  public void close() {
    release.run();
  }
}
