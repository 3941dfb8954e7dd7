package dev.onehop.routing.internal.direct;

import dev.onehop.core.table.RoutingTable;
import dev.onehop.routing.internal.catalog.RoutingCatalog;
import dev.onehop.routing.internal.catalog.UnknownNamespaceException;
import dev.onehop.routing.internal.direct.cursor.CursorReplies;
import dev.onehop.routing.internal.direct.cursor.Cursors;
import dev.onehop.routing.internal.direct.shard.ClusterClock;
import dev.onehop.routing.internal.direct.shard.CommandFailure;
import dev.onehop.routing.internal.direct.shard.ConfigServer;
import dev.onehop.routing.internal.direct.shard.ErrorCodes;
import dev.onehop.routing.internal.direct.shard.ReplicaSet;
import dev.onehop.routing.internal.direct.shard.ServerSet;
import dev.onehop.routing.internal.direct.shard.ShardDirectory;
import dev.onehop.routing.internal.direct.shard.Versions;
import dev.onehop.routing.internal.reactor.LateErrors;
import dev.onehop.routing.internal.wire.OpMsg;
import dev.onehop.routing.internal.wire.ServerAddressName;
import dev.onehop.routing.internal.wire.WirePool;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonTimestamp;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Executes a client's commands on a sharded cluster, straight at the shards. Every command carries
 * the version of the routing table that sent it there, so that a shard whose ownership changed
 * refuses it.
 *
 * <p>Thread-safe.
 */
public final class DirectRouter implements AutoCloseable {
  private static final Duration CLUSTER_REFRESH = Duration.ofSeconds(30);
  private static final Duration REREAD_TIMEOUT = Duration.ofSeconds(10);

  /** A collection that is not used is forgotten after this many rounds. */
  private static final int ROUNDS_UNUSED = 30;

  private static final Set<String> CONFIG_DATABASES = Set.of("admin", "config");

  private final WirePool pool;
  private final ServerSet seeds;
  private final ClusterClock clock = new ClusterClock();
  private final ConfigServer config;
  private final Cursors cursors = new Cursors();
  private final ShardDirectory directory;
  private final ShardClient shards;
  private final HandOver handOver;
  private final Reads reads;
  private final Explain explain;
  private final OneShardForwarding forwarding;
  private final StartCheck startCheck;
  private final Transactions transactions;
  private final ShardKeyChange keyChanges;
  private final ChangeStreams changeStreams;
  private final Sessions sessions;
  private final Ddl ddl;
  private final Role role;
  private final RoutingCatalog catalog;
  private final Disposable refreshing;

  /**
   * How what is known of the cluster is kept fresh.
   *
   * @param every how often the shards and the default concerns are read again; routing tables are
   *     when a shard refuses one
   * @param listener told of every refresh of a routing table
   */
  public record Refreshes(Duration every, RoutingCatalog.RefreshListener listener) {}

  /**
   * A router for a cluster.
   *
   * @param seeds the cluster's config servers, or mongoses; taken over
   * @param watcher watches the shards' servers
   * @param pool connections to all of them; taken over
   */
  public DirectRouter(
      ServerSet seeds, ServerSet.Factory watcher, WirePool pool, Refreshes refreshes) {
    this(seeds, watcher, pool, refreshes, Versions.ATTACHED);
  }

  /** For tests, which may leave the versions away to show what they are good for. */
  DirectRouter(
      ServerSet seeds,
      ServerSet.Factory watcher,
      WirePool pool,
      Refreshes refreshes,
      Versions versions) {
    this(seeds, watcher, pool, refreshes, versions, Role.APPLICATION);
  }

  private DirectRouter(
      ServerSet seeds,
      ServerSet.Factory watcher,
      WirePool pool,
      Refreshes refreshes,
      Versions versions,
      Role role) {
    this.pool = pool;
    this.seeds = seeds;
    ReplicaSet seedServers = new ReplicaSet(seeds, pool, clock);
    this.config = new ConfigServer(seedServers, clock);
    DefaultConcerns concerns = new DefaultConcerns();
    this.catalog = RoutingCatalog.forShards(config, forgetting(refreshes.listener()));
    this.role = role;
    this.directory = new ShardDirectory(config, watcher, pool, clock);
    this.transactions = new Transactions(directory, clock);
    this.keyChanges = new ShardKeyChange(transactions);
    this.shards = new ShardClient(catalog, directory, concerns, versions, transactions);
    this.startCheck = new StartCheck(seedServers, directory);
    this.handOver = new HandOver(seedServers, startCheck, cursors, role);
    this.reads = new Reads(shards, cursors, handOver);
    this.explain = new Explain(shards, handOver);
    this.changeStreams = new ChangeStreams(directory, cursors, clock);
    this.sessions = new Sessions(pool, directory, config, cursors);
    this.ddl = new Ddl(config, shards, cursors);
    this.forwarding =
        new OneShardForwarding(catalog, directory, concerns, cursors, pool, clock, versions);
    this.refreshing =
        startCheck
            .done()
            .thenMany(Flux.interval(Duration.ZERO, refreshes.every()))
            .onBackpressureDrop()
            .doOnNext(this::forgetUnused)
            .concatMap(tick -> concerns.refresh(config).then(rereadShards()))
            .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, Duration.ofSeconds(1)))
            .subscribe(null, null, null, LateErrors.LOGGED);
  }

  /**
   * A router that is the mongos of its clients: it also runs transactions, change streams and the
   * creating and dropping of collections, which an application has a real mongos do.
   *
   * @param seeds the cluster's config servers; taken over
   * @param watcher watches the shards' servers
   * @param pool connections to all of them; taken over
   */
  public static DirectRouter asMongos(ServerSet seeds, ServerSet.Factory watcher, WirePool pool) {
    return new DirectRouter(
        seeds,
        watcher,
        pool,
        new Refreshes(CLUSTER_REFRESH, RoutingCatalog.RefreshListener.NONE),
        Versions.ATTACHED,
        Role.MONGOS);
  }

  private RoutingCatalog.RefreshListener forgetting(RoutingCatalog.RefreshListener listener) {
    return new RoutingCatalog.RefreshListener() {
      @Override
      public void refreshed(
          String namespace,
          @Nullable RoutingTable table,
          Duration took,
          @Nullable Throwable failure) {
        listener.refreshed(namespace, table, took, failure);
      }

      @Override
      public void forgotten(String namespace) {
        forwarding.forget(namespace);
        listener.forgotten(namespace);
      }
    };
  }

  private void forgetUnused(long tick) {
    if (tick % ROUNDS_UNUSED == ROUNDS_UNUSED - 1) {
      catalog.forgetUnused();
    }
  }

  // Shards come and go.
  private Mono<Void> rereadShards() {
    return directory.all().timeout(REREAD_TIMEOUT).then().onErrorComplete();
  }

  /** Completes when the cluster was found to be usable; fails with the reason if it is not. */
  public Mono<Void> started() {
    return startCheck.done();
  }

  /**
   * The same, but completes also when the config servers are silent, for then a mongos may serve
   * the command.
   */
  public Mono<Void> startedOrSilent() {
    return role == Role.MONGOS ? startCheck.done() : startCheck.doneOrSilent();
  }

  /** What the cluster's servers are, as of the start; null before. */
  public @Nullable ClusterFacts facts() {
    return startCheck.known();
  }

  /** A collection's routing table, as the next command would be routed by. */
  public Mono<RoutingTable> table(String namespace) {
    return startCheck.done().then(catalog.table(namespace));
  }

  /** How long ago a collection's table was found to be the newest; empty if there is none. */
  public Optional<Duration> tableAge(String namespace) {
    return catalog.age(namespace);
  }

  /** The primary of a shard; empty if none is known. */
  public Optional<ServerAddressName> primary(String shard) {
    ReplicaSet replicaSet = directory.known(shard);
    return Optional.ofNullable(replicaSet)
        .map(set -> set.servers().primary())
        .map(ServerSet.Server::name);
  }

  /** How one-shard commands are passed on without decoding them. */
  public OneShardForwarding forwarding() {
    return forwarding;
  }

  /**
   * Executes a command.
   *
   * @return the reply's document; errors of the cluster are replies with {@code ok: 0} or errors of
   *     the Mono, see {@link CommandFailure#toReply}
   */
  public Mono<BsonDocument> execute(OpMsg asked) {
    return Mono.defer(
        () -> {
          CommandTypes.check(asked);
          OpMsg command = Acknowledgement.of(asked);
          if (Sessions.isOfOwn(command)) {
            return sessions.tell(command);
          }
          if (role == Role.MONGOS) {
            clock.observe(command.body());
          }
          return startedOrSilent()
              .then(Mono.defer(() -> role == Role.MONGOS ? run(command) : runOrHandOver(command)))
              .map(clock::stamped)
              .onErrorMap(failure -> Transactions.labelled(command, failure));
        });
  }

  /** As a client of the cluster, who has a mongos do what is not certain to be right here. */
  private Mono<BsonDocument> runOrHandOver(OpMsg command) {
    if (Sessions.isOfAll(command)) {
      return ifMongos(
          () -> handOver.send(command, command.commandName()), () -> sessions.kill(command));
    }
    return switch (command.commandName()) {
      case "ping" -> Mono.just(new BsonDocument("ok", new BsonDouble(1)));
      case "getMore" -> cursors.getMore(command.body());
      case "killCursors" -> killCursors(command);
      default -> startCheck.isDone() ? runStarted(command) : handOver.sendUnplaced(command);
    };
  }

  private Mono<BsonDocument> runStarted(OpMsg command) {
    return switch (command.commandName()) {
      case "listDatabases" ->
          ifMongos(() -> handOver.send(command, "listDatabases"), () -> ddl.listDatabases(command));
      default ->
          CONFIG_DATABASES.contains(command.database()) && !Transactions.isPart(command)
              ? ifMongos(() -> onConfigServer(command), () -> onConfigServerIfRight(command))
              : onDataOrHandOver(command);
    };
  }

  private Mono<BsonDocument> ifMongos(
      Supplier<Mono<BsonDocument>> there, Supplier<Mono<BsonDocument>> otherwise) {
    return handOver.isPossible().flatMap(possible -> possible ? there.get() : otherwise.get());
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
    return Transactions.Snapshots.isAsked(command)
        ? handOver.send(command, "read concern snapshot")
        : onShards(command, command.database());
  }

  /** As the mongos of many clients. */
  private Mono<BsonDocument> run(OpMsg command) {
    if (Sessions.isOfAll(command)) {
      return sessions.kill(command);
    }
    if (Transactions.isPart(command) || Transactions.isEnd(command)) {
      CommandTypes.checkSession(command);
    }
    return switch (command.commandName()) {
      case "ping" -> Mono.just(new BsonDocument("ok", new BsonDouble(1)));
      case "commitTransaction" -> transactions.commit(command);
      case "abortTransaction" -> transactions.abort(command);
      case "listDatabases" -> ddl.listDatabases(command);
      case "renameCollection" -> ddl.rename(command);
      default -> ChangeStreams.isOne(command) ? changeStreams.open(command) : onData(command);
    };
  }

  private Mono<BsonDocument> onData(OpMsg command) {
    String database = command.database();
    if (CONFIG_DATABASES.contains(database)) {
      return onConfigServer(command);
    }
    if (Transactions.isPart(command)) {
      return transactions.statement(command, onShards(command, database));
    }
    BsonDocument readConcern =
        command.body().isDocument("readConcern")
            ? Transactions.Snapshots.timed(command.body().getDocument("readConcern"), clock)
            : null;
    if (readConcern == null) {
      return onShards(command, database);
    }
    // A snapshot read outside of transactions, which several shards may have to answer.
    BsonDocument body = new BsonDocument();
    body.putAll(command.body());
    body.put("readConcern", readConcern);
    clock.gossip(body);
    BsonTimestamp time = readConcern.getTimestamp("atClusterTime");
    return onShards(command.withBody(body), database).map(reply -> withSnapshotTime(time, reply));
  }

  /** The client reads on at the time that was picked here. */
  private static BsonDocument withSnapshotTime(BsonTimestamp time, BsonDocument reply) {
    if (!reply.isDocument("cursor")) {
      return reply;
    }
    BsonDocument cursor = new BsonDocument();
    cursor.putAll(reply.getDocument("cursor"));
    cursor.put("atClusterTime", time);
    BsonDocument copy = new BsonDocument();
    copy.putAll(reply);
    copy.put("cursor", cursor);
    return copy;
  }

  /** Runs a command of our own on the config servers' primary. */
  public Mono<BsonDocument> runOnConfigServer(String database, BsonDocument command) {
    return config.run(database, command);
  }

  @Override
  public void close() {
    refreshing.dispose();
    directory.close();
    seeds.close();
    pool.close();
  }

  private Mono<BsonDocument> onConfigServer(OpMsg command) {
    return switch (command.commandName()) {
      case "getMore" -> cursors.getMore(command.body());
      case "killCursors" -> killCursors(command);
      default ->
          config
              .replicaSet()
              .send(command)
              .map(answer -> cursors.keep(config.replicaSet(), command, answer));
    };
  }

  private Mono<BsonDocument> onShards(OpMsg command, String database) {
    String name = command.commandName();
    return switch (name) {
      case "aggregate" ->
          command.body().isString(name)
              ? onCollection(command, reads::aggregate)
              : handOver.send(command, "an aggregation on a database");
      case "find" -> onCollection(command, reads::find);
      case "count" -> onCollection(command, reads::count);
      case "distinct" -> onCollection(command, reads::distinct);
      case "findAndModify", "findandmodify" ->
          onCollection(
              command,
              (each, on) ->
                  creatingDatabase(
                      each, keyChanges.run(each, again -> reads.findAndModify(again, on))));
      case "update" ->
          onCollection(
              command,
              (each, on) ->
                  creatingDatabase(
                      each, keyChanges.run(each, again -> WriteBatch.run(shards, again, on))));
      case "insert", "delete" ->
          onCollection(
              command, (each, on) -> creatingDatabase(each, WriteBatch.run(shards, each, on)));
      case "listIndexes" -> onCollection(command, ddl::listIndexes);
      case "explain" -> explain.run(command);
      case "getMore" -> cursors.getMore(command.body());
      case "killCursors" -> killCursors(command);
      case "listCollections" -> onPrimaryShard(command, database);
      default ->
          role == Role.MONGOS
              ? onMetadata(command, database)
              : handOver.send(command, "the command " + name);
    };
  }

  /**
   * Runs a command on a collection that shards know under the name that clients do. One whose table
   * does not come soon is a mongos' meanwhile.
   */
  private Mono<BsonDocument> onCollection(
      OpMsg command, BiFunction<OpMsg, String, Mono<BsonDocument>> run) {
    String namespace = namespace(command);
    Mono<BsonDocument> here =
        shards
            .isShardedTimeSeries(namespace)
            .flatMap(
                timeSeries ->
                    timeSeries
                        ? handOver.send(command, "a sharded time series collection")
                        : run.apply(command, namespace));
    return role == Role.MONGOS
        ? here
        : shards.isKnownSoon(namespace).flatMap(soon -> soon ? here : withoutTable(command, here));
  }

  /** What no mongos can do waits for a table that takes its time, as one of many chunks does. */
  private Mono<BsonDocument> withoutTable(OpMsg command, Mono<BsonDocument> here) {
    return handOver
        .isPossible()
        .flatMap(
            possible -> possible || catalog.isSilent() ? handOver.sendUnplaced(command) : here);
  }

  private Mono<BsonDocument> onMetadata(OpMsg command, String database) {
    String name = command.commandName();
    return switch (name) {
      case "create" -> creatingDatabase(command, ddl.create(command, database));
      case "drop" -> ddl.drop(command, database);
      case "dropDatabase" -> ddl.dropDatabase(database);
      default ->
          Ddl.isOnEveryOwner(name)
              ? creatingDatabase(command, ddl.onEveryOwner(command, namespace(command)))
              : Mono.error(
                  new CommandFailure(
                      ErrorCodes.COMMAND_NOT_FOUND,
                      "CommandNotFound",
                      "no such command: '" + name + "'"));
    };
  }

  private static String namespace(OpMsg command) {
    return command.database() + "." + command.body().getString(command.commandName()).getValue();
  }

  /** The first write to a database creates it, as mongos does. */
  private Mono<BsonDocument> creatingDatabase(OpMsg command, Mono<BsonDocument> write) {
    return write.onErrorResume(
        UnknownNamespaceException.class,
        e ->
            handOver
                .isPossible()
                .flatMap(
                    possible ->
                        possible
                            ? handOver.send(command, "a new database")
                            : createDatabase(command.database()).then(write)));
  }

  private Mono<BsonDocument> createDatabase(String database) {
    return config.run(
        "admin",
        new BsonDocument("_configsvrCreateDatabase", new BsonString(database))
            .append("writeConcern", new BsonDocument("w", new BsonString("majority"))));
  }

  private Mono<BsonDocument> onPrimaryShard(OpMsg command, String database) {
    return config
        .find("databases", new BsonDocument("_id", new BsonString(database)), new BsonDocument())
        .flatMap(
            found ->
                found.isEmpty()
                    ? Mono.just(
                        CursorReplies.first(
                            database + ".$cmd." + command.commandName(), 0, List.of()))
                    : shards
                        .shards()
                        .shard(found.get(0).getString("primary").getValue())
                        .flatMap(
                            replicaSet ->
                                replicaSet
                                    .send(command)
                                    .map(answer -> cursors.keep(replicaSet, command, answer))));
  }

  private Mono<BsonDocument> killCursors(OpMsg command) {
    BsonArray killed = new BsonArray();
    BsonArray notFound = new BsonArray();
    return Flux.fromIterable(command.body().getArray("cursors", new BsonArray()))
        .concatMap(
            (BsonValue id) ->
                cursors
                    .kill(id.asNumber().longValue())
                    .doOnNext(
                        found ->
                            (found ? killed : notFound)
                                .add(new BsonInt64(id.asNumber().longValue()))))
        .then(
            Mono.fromCallable(
                () ->
                    new BsonDocument("cursorsKilled", killed)
                        .append("cursorsNotFound", notFound)
                        .append("cursorsAlive", new BsonArray())
                        .append("cursorsUnknown", new BsonArray())
                        .append("ok", new BsonDouble(1))));
  }
}
